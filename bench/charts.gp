# Draws scaling.csv and core.csv of the folder `data` as SVG into the folder `charts`:
#   gnuplot -e "data='build/bench'; charts='docs/performance'" bench/charts.gp
set datafile separator ','
set terminal svg size 900,520 font 'sans-serif,14' background '#ffffff'
set grid
set key outside right noenhanced

set logscale xy
set format x '%.0s%c'
set xrange [800:1.2e8]
set xlabel 'keys'
rows = data.'/scaling.csv'

set output charts.'/cost.svg'
set title 'What a key costs as their number grows (ns)'
set ylabel 'ns a key'
plot for [column in "2 3 4 5 6 7 8 9"] rows using 1:(column(int(column))) with linespoints \
  linewidth 2 title columnheader(int(column))

set output charts.'/size.svg'
set title 'What a key takes in the database (bytes)'
set ylabel 'bytes a key'
plot for [column in "10 11 12"] rows using 1:(column(int(column))) with linespoints \
  linewidth 2 title columnheader(int(column))

unset logscale
set format x
set xrange [*:*]
set output charts.'/core.svg'
set title 'The core, many keys at a time where the library can, keys that are there (ns a key)'
set style data histograms
set style fill solid 0.8
set xlabel 'size of the cells'
set ylabel 'ns a key'
plot for [i=2:6] data.'/core.csv' using i:xticlabels(1) title columnheader(i)
