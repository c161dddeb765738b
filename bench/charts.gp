# Draws scaling.csv, groups.csv and core.csv of the folder `data` as SVG into the folder `charts`. From the stored measurements:
#   gnuplot -e "data='docs/performance'; charts='docs/performance'" bench/charts.gp
set datafile separator ','
set datafile columnheaders
set key noautotitle
set border 3 lw 0.8
set tics out nomirror
set grid y lc rgb '#dddddd' lw 0.7

# Okabe and Ito's palette, which colour-blind readers can tell apart. A blob is orange, a table blue. Solid lines are
# filters; the dashed line is the PRIMARY KEY that does the work of the table.
blob = '#D55E00'
table = '#0072B2'
grey = '#555555'
black = '#000000'
svg(width, height) = sprintf("set terminal svg size %d,%d rounded noenhanced font 'sans-serif,14' background '#ffffff'", width, height)
# Gives a finished file a title and a description for readers who cannot see it.
describe(file, title, text) = system(sprintf("sed -i 's|<title>Gnuplot</title>|<title>%s</title>|; s|<desc>[^<]*</desc>|<desc>%s</desc>|' '%s'", title, text, file))

# A line of scaling.csv, with its label at the point for `at` keys, `up` lines higher.
rows = data.'/scaling.csv'
curve(column, colour, dash, at, up, label) = sprintf( \
  "rows using 'keys':'%s' with linespoints pt 7 ps 0.5 lw 2 dt %d lc rgb '%s', rows using (column('keys') == %d ? %d : NaN):'%s':('%s') with labels left offset 0.8, %.1f textcolor rgb '%s'", \
  column, dash, colour, at, at, column, label, up, colour)

set logscale xy
set format x '%.0s%c'
set xrange [800:1.2e8]
set xlabel 'number of keys'

eval svg(1100, 480)
file = charts.'/cost.svg'
set output file
set multiplot layout 1, 2
set yrange [50:10000]
set rmargin 16
set ylabel 'time per key (ns)'
set title 'Insert: time per key (ns) by number of keys'
eval 'plot '.curve('INSERT PRIMARY KEY', table, 2, 1e7, 0, 'PRIMARY KEY').', '.curve('INSERT bloom', table, 1, 1e8, 0.2, 'bloom table').', '. \
  curve('bloom_build to size', blob, 1, 1e8, 0, 'bloom_build').', '.curve('reading', grey, 3, 1e8, 0, 'reading the keys')
set title 'Look up: time per key (ns) by number of keys'
eval 'plot '.curve('JOIN PRIMARY KEY', table, 2, 1e7, 0, 'PRIMARY KEY').', '.curve('JOIN bloom', table, 1, 1e8, 0.5, 'bloom table').', '. \
  curve('bloom_contains', blob, 1, 1e8, -0.5, 'bloom_contains').', '.curve('reading', grey, 3, 1e8, 0, 'reading the keys')
unset multiplot
unset output
done = describe(file, 'Time per key by number of keys', 'Two line charts with logarithmic axes, from a thousand to 100 million keys. Left, inserting: a bloom table and bloom_build stay between 90 and 250 ns per key, while a PRIMARY KEY rises from 220 ns to 3,800 ns at 10 million keys. Right, looking up: a bloom table and bloom_contains rise from about 100 ns to 360 ns, a PRIMARY KEY from 190 ns to 2,000 ns at 10 million keys. Reading the keys alone takes 70 to 80 ns.')

eval svg(760, 480)
file = charts.'/size.svg'
set output file
set yrange [1:100]
set rmargin 14
set ylabel 'stored bytes per key'
set title 'Stored bytes per key by number of keys'
eval 'plot '.curve('bytes of a PRIMARY KEY', table, 2, 1e7, 0, 'PRIMARY KEY').', '.curve('bytes of a table', table, 1, 1e8, 0.6, 'bloom table').', '. \
  curve('bytes of a blob', blob, 1, 1e8, -0.3, 'blob')
unset output
done = describe(file, 'Stored bytes per key by number of keys', 'A line chart with logarithmic axes, from a thousand to 100 million keys. A PRIMARY KEY needs about 41 bytes per key at every size. A blob needs 1.2 to 1.6 bytes per key. A bloom table needs 12 bytes per key at a thousand keys, 2.9 at ten thousand, and about 1.3 from a million keys on.')

# A line of groups.csv. `way` is what is looked up in, `what` is the column; the label is at the last point, `up` lines higher.
groups = data.'/groups.csv'
set xrange [*:*]
set yrange [*:*]
stats groups using 1 nooutput
most = STATS_max
way(way, what, colour, dash, up, label) = sprintf( \
  "groups using 'members':'%s: %s' with linespoints pt 7 ps 0.5 lw 2 dt %d lc rgb '%s', groups using (column('members') == most ? most : NaN):'%s: %s':('%s') with labels left offset 0.8, %.1f textcolor rgb '%s'", \
  way, what, dash, colour, way, what, label, up, colour)
green = '#009E73'
eval svg(1100, 480)
file = charts.'/groups.svg'
set output file
set multiplot layout 1, 2
set rmargin 22
set xrange [8:1.2 * most]
set xlabel 'number of members'
set yrange [0.5:1e5]
set ylabel 'time per lookup (µs)'
set title 'Absent key: time per lookup (µs), all pages cached'
eval 'plot '.way('blobs', 'absent', blob, 1, 0, 'filters in rows').', '.way('segments', 'absent', table, 1, 0.3, 'bloom\_groups').', '. \
  way('wide rows', 'absent', green, 1, -0.2, "after ''optimize''").', '.way('index', 'absent', grey, 2, -0.4, 'exact index')
set yrange [0.1:1e5]
set ylabel 'pages read per lookup'
set title 'Absent key: pages read (page cache of 2 MB)'
eval 'plot '.way('blobs', 'pages', blob, 1, 0, 'filters in rows').', '.way('segments', 'pages', table, 1, 0.3, 'bloom\_groups').', '. \
  way('wide rows', 'pages', green, 1, 0, "after ''optimize''").', '.way('index', 'pages', grey, 2, -0.4, 'exact index')
unset multiplot
unset output
done = describe(file, 'Time and pages per lookup by number of members', 'Two line charts with logarithmic axes, from 10 to 100,000 members with 500 keys each. Left, time per lookup of an absent key: filters in rows rise from 2 to 35,000 microseconds; a bloom_groups table rises from 2 to 645 microseconds, and to 114 after optimize; an exact index stays between 1 and 5. Right, pages read with a page cache of 2 MB: filters in rows rise to 33,600, bloom_groups to 1,580, after optimize to 61, an exact index to 2.')

# Bars in groups, one group per size of the filter. Each bar has its name below and its value above.
bars = data.'/core.csv'
array colours[5] = ['#0072B2', '#56B4E9', '#009E73', '#D55E00', '#CC79A7']
array names[5] = ['block=0', 'block=31744', 'block=512', 'libbloom', 'RocksDB']
set rmargin 2
set bmargin 5.5
unset xlabel
unset logscale x
set format x '%s'
set xtics scale 0 rotate by -30 left
set yrange [1:1000]
set ylabel 'time per lookup (ns), logarithmic'
set title 'C++ core: time per lookup of a present key (ns), by size of the filter'
set boxwidth 0.8
set style fill solid 0.9 noborder
stats bars using 2 nooutput
groups = int(STATS_records)
set xrange [0:6 * groups]
set xtics ('' 0)
do for [group = 0:groups - 1] { do for [i = 1:5] { set xtics add (names[i] 6 * group + i) } }
eval svg(900, 480)
file = charts.'/core.svg'
set output file
plot for [i = 1:5] bars using (6 * $0 + i):(column(i + 1)) with boxes lc rgb colours[i], \
  for [i = 1:5] '' using (6 * $0 + i):(column(i + 1)):(sprintf('%.3g', column(i + 1))) with labels offset 0, 0.6 textcolor rgb black, \
  '' using (6 * $0 + 3):(700):('filter of '.strcol(1)) with labels textcolor rgb black
unset output
done = describe(file, 'Time per lookup of the C++ core by size of the filter', 'A bar chart with a logarithmic axis: block=0, block=31744 and block=512 of this extension, libbloom and RocksDB, for each size of the filter. Where a library can look up many keys at a time, it does. libbloom is slowest at every size, block=512 and RocksDB are fastest.')
