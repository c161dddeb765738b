# Draws the CSV files of the current folder as SVG beside them.
set datafile separator ','
set datafile columnheaders

# Okabe and Ito's colours, which the colour-blind can tell apart. Curves differ in their marks, too.
array colors[4] = ['#0072B2', '#D55E00', '#009E73', '#CC79A7']
array marks[4] = [7, 5, 9, 13]
array rings[4] = [6, 4, 8, 12]
black = '#000000'
do for [i = 1:4] { set style line i lw 2.2 lc rgb colors[i] }

set border lw 0.8
set tics out nomirror
set key noautotitle
svg(width, height) = sprintf("set terminal svg size %d,%d rounded font 'sans-serif,14' background '#ffffff'", width, height)

# Gives a finished file a title and a description for readers who cannot see it.
# In the dark mode of the reader's system, lightness is inverted and colours stay.
dark = '<style>@media (prefers-color-scheme: dark) {svg {filter: invert(1) hue-rotate(180deg)}}</style>'
describe(file, title, text) = system(sprintf("sed -i 's|<title>Gnuplot</title>|%s<title>%s</title>|; s|<desc>[^<]*</desc>|<desc>%s</desc>|' '%s'", dark, title, text, file))

# Scatter plots: a short line with round ends is a dot, and takes a third of the bytes that a mark takes.
eval svg(760, 520)
set output 'hash.svg'
set title 'The cell of each key in a filter of 10,000 cells (every fifth key)'
set xlabel 'key'
set ylabel 'cell'
set xrange [0:10000]
set yrange [0:10000]
plot 'hash.csv' using 1:2:(4):(0) with vectors nohead ls 1
unset output
done = describe('hash.svg', 'The cell of each key', 'A scatter plot of 2,000 keys: the number of the key from 1 to 10,000 on one axis, its cell from 0 to 10,000 on the other. The points show no pattern.')

# Each of five hashes against each other. The first column of the file is the key.
eval svg(780, 760)
unset title
set size square
do for [bad = 0:1] {
  file = bad ? 'bad_family' : 'family'
  set output file.'.svg'
  set multiplot
  set label 1 (bad ? 'cells by i h_1, a bad family' : 'cells by h_1  + i h_2') at screen 0.97, 0.95 right font ',17'
  set label 2 'keys 1 to 200, filters of 10,000 cells' at screen 0.97, 0.91 right
  do for [row = 1:4] {
    do for [column = 0:row - 1] {
      set lmargin at screen 0.125 + 0.22 * column
      set rmargin at screen 0.125 + 0.22 * column + 0.2
      set tmargin at screen 0.98 - 0.225 * (row - 1)
      set bmargin at screen 0.98 - 0.225 * (row - 1) - 0.2
      set xtics 0, 5000, 5000 format (row == 4 ? '%g' : '')
      set ytics 0, 5000, 5000 format (column == 0 ? '%g' : '')
      set xlabel (row == 4 ? sprintf('i = %d', column + bad) : '')
      set ylabel (column == 0 ? sprintf('i = %d', row + bad) : '')
      plot file.'.csv' using (column(column + 2)):(column(row + 2)):(20):(0) with vectors nohead ls 1 + bad
      unset label
    }
  }
  unset multiplot
  unset output
  done = describe(file.'.svg', bad ? 'Pairs of hashes of a bad family' : 'Pairs of five hashes', \
    bad ? 'Ten scatter plots, one per pair of five hashes i times h1. The points lie on a few lines.' : 'Ten scatter plots, one per pair of five hashes h1 plus i times h2. The points show no pattern.')
}

# False-positive rates: lines are the formula (bloom_rate), marks are measured, bars are two standard errors to each side.
set size nosquare
set lmargin
set rmargin
set tmargin
set bmargin
set tics autofreq format '%g'
set grid lc rgb '#dddddd' lw 0.7
set key opaque box lc rgb '#bbbbbb' samplen 2 height 0.3 width 0.5
set ylabel 'false-positive rate'
rate = '(column("positives") / column("questions"))'
# Bars are vectors, since yerrorbars erase what is behind their marks. None reaches 0: the scale is logarithmic.
low(rate, error) = rate - 2 * error > 1e-9 ? rate - 2 * error : 1e-9
length(rate, error) = rate + 2 * error - low(rate, error)
bars(error) = '(low('.rate.', '.error.')):(0):(length('.rate.', '.error.')) with vectors nohead lw 1 lc rgb black'
between_filters = bars('sqrt(column("variance"))')
between_questions = bars('sqrt(column("positives")) / column("questions")')

eval svg(760, 520)
set output 'families.svg'
set title 'False-positive rate with 1,000 bits and 5 hashes: a good and a bad family'
set xlabel 'keys in the filter'
set logscale y
set format y '10^{%T}'
set xrange [0:255]
set yrange [1e-6:1]
set key bottom right
of_family(name) = strcol('family') eq name ? column('n') : NaN
plot 'families.csv' using (of_family('good')):'theory' with lines lw 1.2 lc rgb black title 'independent hashes: formula', \
  '' using 'n':@between_questions, \
  '' using (of_family('good')):@rate with points pt 7 ps 0.5 lc rgb colors[1] title 'h_1  + i h_2, i = 0..4: measured', \
   '' using (of_family('bad')):@rate with points pt 5 ps 0.5 lc rgb colors[2] title 'i h_1, i = 1..5: measured'
unset output
done = describe('families.svg', 'False-positive rate of a good and a bad family of hashes', 'Filters of 1,000 bits with 5 hashes, 10 to 250 keys, logarithmic axis. The good family follows the formula from 50 keys on. The bad family is far above: 0.84 % instead of 0.07 % with 50 keys.')

# The abscissa of the rows of one curve: those of a chart, with a value in another column. Elsewhere nothing is drawn.
in(chart, x) = strcol('chart') eq chart ? column(x) : NaN
of(chart, name, value, x) = column(name) == value ? in(chart, x) : NaN
classic(x) = column('block') == 0 ? x : NaN
one_block(x) = column('block') > 0 ? x : NaN

array sizes[4] = [100, 250, 500, 1000]
eval svg(600, 900)
set output 'keys.svg'
unset logscale
set format y '%g'
set yrange [0:1]
set multiplot layout 2, 1
set key on top left Left reverse
set xlabel 'keys in the filter'
set xrange [0:250]
set title 'As in the article: one filter (colours as below)'
plot for [i = 1:4] 'theory.csv' using (of('keys', 'm', sizes[i], 'n')):'theory' with lines lw 1.2 lc rgb colors[i], \
  for [i = 1:4] 'article.csv' using (column('m') == sizes[i] ? column('n') : NaN):@rate:(0.2):(0) with vectors nohead lw 3 lc rgb colors[i], \
  NaN with lines lw 1.2 lc rgb black title 'line: formula', NaN with points pt 7 ps 0.4 lc rgb black title 'dots: measured'
set title '200 filters, each with 1,000 lookups of other keys'
unset key
set xrange [0:500]
set rmargin 11
plot for [i = 1:4] 'theory.csv' using (of('keys', 'm', sizes[i], 'n')):'theory' with lines lw 1.2 lc rgb colors[i], \
  for [i = 1:4] 'rates.csv' using (of('keys', 'm', sizes[i], 'n')):@rate with points pt marks[i] ps 0.5 lc rgb colors[i], \
  for [i = 1:4] 'rates.csv' using (column('n') == 500 ? of('keys', 'm', sizes[i], 'n') : NaN):@rate:(sprintf('%d bits', sizes[i])) \
    with labels left offset 1, 0 textcolor rgb colors[i]
unset multiplot
unset output
done = describe('keys.svg', 'False-positive rate by number of keys', 'Two charts for filters of 100, 250, 500 and 1,000 bits. Above: one filter, up to 250 keys; the measured rate scatters around the formula and drops at the end. Below: 200 filters, up to 500 keys; the measured rate lies on the formula.')
set rmargin

array hashes[4] = [1, 5, 10, 50]
set output 'hashes.svg'
set multiplot layout 2, 1
set xrange [0:305]
set key on top left noreverse Right
set title '1,000 bits, linear axis'
plot for [i = 1:4] 'theory.csv' using (of('hashes', 'k', hashes[i], 'n')):'theory' with lines lw 1.2 lc rgb colors[i], \
  for [i = 1:4] 'rates.csv' using (classic(of('hashes', 'k', hashes[i], 'n'))):@rate with points pt marks[i] ps 0.5 lc rgb colors[i] \
    title sprintf('k = %d', hashes[i])
set title '1,000 bits, logarithmic axis (colours as above)'
set logscale y
set format y '10^{%T}'
set yrange [1e-6:1]
set key bottom right
plot for [i = 1:4] 'theory.csv' using (of('hashes', 'k', hashes[i], 'n')):'theory' with lines lw 1.2 lc rgb colors[i], \
  'rates.csv' using (in('hashes', 'n')):@between_filters, \
  for [i = 1:4] 'rates.csv' using (classic(of('hashes', 'k', hashes[i], 'n'))):@rate with points pt marks[i] ps 0.4 lc rgb colors[i], \
  for [i = 1:4] 'rates.csv' using (one_block(of('hashes', 'k', hashes[i], 'n'))):@rate with points pt rings[i] ps 0.8 lc rgb colors[i], \
  NaN with lines lw 1.2 lc rgb black title 'line: formula', NaN with points pt 7 ps 0.4 lc rgb black title 'filled: unblocked filters', \
  NaN with points pt 6 ps 0.8 lc rgb black title 'hollow: filters of one block'
unset multiplot
unset output
done = describe('hashes.svg', 'False-positive rate by number of keys, for 1, 5, 10 and 50 hashes', 'Filters of 1,000 bits, up to 300 keys, once with a linear and once with a logarithmic axis. 50 hashes fill the filter fastest. On the logarithmic axis, unblocked filters with few keys lie far above the formula; filters of one block lie on it.')

array keys[3] = [50, 100, 250]
set output 'best_k.svg'
set multiplot layout 2, 1
set title 'By number of hashes, 1,000 bits'
set xlabel 'hashes (k)'
set xrange [0:51]
set yrange [1e-6:1]
plot for [i = 1:3] 'theory.csv' using (of('best_k', 'n', keys[i], 'k')):'theory' with lines lw 1.2 lc rgb colors[i], \
  'rates.csv' using (in('best_k', 'k')):@between_filters, \
  for [i = 1:3] 'rates.csv' using (classic(of('best_k', 'n', keys[i], 'k'))):@rate with points pt marks[i] ps 0.4 lc rgb colors[i] \
    title sprintf('%d keys', keys[i]), \
  NaN with points pt 7 ps 0.4 lc rgb black title 'filled: unblocked', NaN with points pt 6 ps 0.8 lc rgb black title 'hollow: one block', \
  for [i = 1:3] 'rates.csv' using (one_block(of('best_k', 'n', keys[i], 'k'))):@rate with points pt rings[i] ps 0.8 lc rgb colors[i]
set title 'By number of bits, 250 keys, best number of hashes'
set xlabel 'bits'
set xrange [0:4100]
set key top right
plot 'theory.csv' using (in('cells', 'm')):'theory' with lines lw 1.2 lc rgb black title 'formula', \
  'rates.csv' using (in('cells', 'm')):@between_filters, \
  'rates.csv' using (classic(in('cells', 'm'))):@rate with points pt 7 ps 0.4 lc rgb colors[1] title 'unblocked', \
  'rates.csv' using (one_block(in('cells', 'm'))):@rate with points pt 4 ps 0.9 lc rgb colors[2] title 'one block'
unset multiplot
unset output
done = describe('best_k.svg', 'False-positive rate by number of hashes and by number of bits', 'Above: 50, 100 and 250 keys in 1,000 bits with 1 to 50 hashes; each line has a minimum. Below: 250 keys in 250 to 4,000 bits; the rate falls by the same factor per bit, and unblocked filters leave the line beyond 3,000 bits.')

eval svg(760, 520)
set output 'bits.svg'
set title 'False-positive rate by bits per key, with 4 hashes and with the best number'
set xlabel 'bits per key'
set xrange [1:33]
set yrange [1e-7:1]
set xtics 2, 2, 32
# With 6 bits 4 is the best number.
five = 'column("k") == 5 && column("bits") == 10'
plot 'bits_theory.csv' using 'bits':'four_hashes' with lines lw 1.2 lc rgb colors[1] title '4 hashes: formula', \
  '' using 'bits':'best' with lines lw 1.2 lc rgb colors[2] title 'best k: formula', \
  'bits.csv' using 'bits':@between_questions, \
  'bits.csv' using (column('k') == 4 ? column('bits') : NaN):@rate with points pt 7 ps 0.5 lc rgb colors[1] title '4 hashes: measured', \
  '' using (column('k') == 4 && column('bits') != 6 || @five ? NaN : column('bits')):@rate with points pt 4 ps 0.8 lc rgb colors[2] \
     title 'best k: measured', \
  '' using (@five ? 10 : NaN):@rate with points pt 8 ps 0.8 lc rgb black title '5 hashes, 10 bits: measured', \
  '' using (column('k') == 4 && column('bits') == 10 ? 10 : NaN):@rate:(sprintf('%.1f %%', 100 * column('positives') / column('questions'))) \
     with labels left offset 0.6, 0.7 textcolor rgb colors[1], \
  '' using (@five ? 10 : NaN):@rate:(sprintf('%.1f %%', 100 * column('positives') / column('questions'))) \
     with labels right offset -1, -0.5 textcolor rgb black
unset output
done = describe('bits.svg', 'False-positive rate by bits per key', 'A chart with a logarithmic axis, 2 to 32 bits per key. With 4 hashes the rate falls to about 0.0001 at 32 bits; with the best number of hashes it falls by the same factor per bit. All measured rates lie on the formula. At 10 bits per key: 1.2 % with 4 hashes, 0.9 % with 5.')
