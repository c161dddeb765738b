# Draws scaling.csv, groups.csv, retention.csv and core.csv of the folder `data` as SVG into the folder `charts`. From the stored measurements:
#   gnuplot -e "data='docs/performance'; charts='docs/performance'" bench/charts.gp
set datafile separator ','
set datafile columnheaders
set key noautotitle
set border 3 lw 0.8
set tics out nomirror
set grid y lc rgb '#dddddd' lw 0.7

# Okabe and Ito's palette, which colour-blind readers can tell apart. A blob is orange, a table blue, a PRIMARY KEY purple.
# Solid lines are filters. Panels stand one above the other, so that a phone shows them at a legible size.
blob = '#D55E00'
table = '#0072B2'
grey = '#555555'
key = '#AA4499'
black = '#000000'
svg(width, height) = sprintf("set terminal svg size %d,%d rounded noenhanced font 'sans-serif,14' background '#ffffff'", width, height)
# Gives a finished file a title and a description for readers who cannot see it.
# In the dark mode of the reader's system, lightness is inverted and colours stay.
dark = '<style>@media (prefers-color-scheme: dark) {svg {filter: invert(1) hue-rotate(180deg)}}</style>'
describe(file, title, text) = system(sprintf("sed -i 's|<title>Gnuplot</title>|%s<title>%s</title>|; s|<desc>[^<]*</desc>|<desc>%s</desc>|' '%s'", dark, title, text, file))

# A line of scaling.csv, with its label at the point for `at` keys, `up` lines higher.
rows = data.'/scaling.csv'
curve(column, colour, dash, at, up, label) = sprintf( \
  "rows using 'keys':'%s' with linespoints pt 7 ps 0.5 lw 2 dt %d lc rgb '%s', rows using (column('keys') == %d ? %d : NaN):'%s':('%s') with labels left offset 0.8, %.1f textcolor rgb '%s'", \
  column, dash, colour, at, at, column, label, up, colour)

set logscale xy
set format x '%.0s%c'
set xrange [800:1.2e8]
set xlabel 'number of keys'

eval svg(600, 880)
file = charts.'/cost.svg'
set output file
set multiplot layout 2, 1
set yrange [50:10000]
set rmargin 16
set ylabel 'time per key (ns)'
set title 'Insert: time per key (ns) by number of keys'
eval 'plot '.curve('INSERT PRIMARY KEY', key, 2, 1e7, 0, 'PRIMARY KEY').', '.curve('INSERT bloom', table, 1, 1e8, 0.2, 'bloom table').', '. \
  curve('bloom_build to size', blob, 1, 1e8, 0, 'bloom_build').', '.curve('reading', grey, 3, 1e8, 0, 'reading the keys')
set title 'Look up: time per key (ns) by number of keys'
eval 'plot '.curve('JOIN PRIMARY KEY', key, 2, 1e7, 0, 'PRIMARY KEY').', '.curve('JOIN bloom', table, 1, 1e8, 0.5, 'bloom table').', '. \
  curve('bloom_contains', blob, 1, 1e8, -0.5, 'bloom_contains').', '.curve('reading', grey, 3, 1e8, 0, 'reading the keys')
unset multiplot
unset output
done = describe(file, 'Time per key by number of keys', 'Two line charts with logarithmic axes, from a thousand to 100 million keys. Above, inserting: a bloom table and bloom_build stay between 90 and 250 ns per key, while a PRIMARY KEY rises from 220 ns to 3,800 ns at 10 million keys. Below, looking up: a bloom table and bloom_contains rise from about 100 ns to 360 ns, a PRIMARY KEY from 190 ns to 2,000 ns at 10 million keys. Reading the keys alone takes 70 to 80 ns.')

eval svg(600, 440)
file = charts.'/size.svg'
set output file
set yrange [1:100]
set rmargin 14
set ylabel 'stored bytes per key'
set title 'Stored bytes per key by number of keys'
eval 'plot '.curve('bytes of a PRIMARY KEY', key, 2, 1e7, 0, 'PRIMARY KEY').', '.curve('bytes of a table', table, 1, 1e8, 0.6, 'bloom table').', '. \
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
eval svg(600, 880)
file = charts.'/groups.svg'
set output file
set multiplot layout 2, 1
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
done = describe(file, 'Time and pages per lookup by number of members', 'Two line charts with logarithmic axes, from 10 to 100,000 members with 500 keys each. Above, time per lookup of an absent key: filters in rows rise from 2 to 35,000 microseconds; a bloom_groups table rises from 2 to 645 microseconds, and to 114 after optimize; an exact index stays between 1 and 5. Below, pages read with a page cache of 2 MB: filters in rows rise to 33,600, bloom_groups to 1,580, after optimize to 61, an exact index to 2.')

# Each line is a share of its first value, so that one axis shows times and bytes.
retention = data.'/retention.csv'
unset logscale
set xrange [*:*]
set yrange [*:*]
stats retention using 'day' every ::0::0 nooutput
first_day = STATS_min
stats retention using 'lookup' every ::0::0 nooutput
first_lookup = STATS_min
stats retention using 'bytes' every ::0::0 nooutput
first_bytes = STATS_min
stats retention using 'days' nooutput
last_day = STATS_max
share(column, first, colour, up, label) = sprintf( \
  "retention using 'days':(column('%s') / %g) with linespoints pt 7 ps 0.4 lw 2 lc rgb '%s', retention using (column('days') == last_day ? last_day : NaN):(column('%s') / %g):('%s') with labels left offset 0.8, %.1f textcolor rgb '%s'", \
  column, first, colour, column, first, label, up, colour)
eval svg(600, 400)
file = charts.'/retention.svg'
set output file
set format x '%.0f'
set format y '%.1f'
set xrange [0:last_day]
set yrange [0:3]
set rmargin 14
set xlabel 'days: each deletes the oldest of 3,000 members and adds one'
set ylabel 'times the first value'
set title 'A retention job: times stay, bytes at most double'
eval 'plot '.share('day', first_day, table, -0.4, 'a day').', '.share('lookup', first_lookup, green, 0.4, 'a lookup').', '.share('bytes', first_bytes, grey, 0, 'bytes')
unset output
done = describe(file, 'A retention job over days', 'A line chart with a linear axis. The time to delete the oldest member and add a new one, the time of a lookup and the bytes of the file, each divided by its first value, over 10,000 days. Times stay between 0.8 and 1.4. Bytes rise from 1 to 2 in the first 3,500 days, because half of the space may be free, and stay there.')

# Dots in a row per library, one panel per size of the filter. Filled: one lookup at a time; hollow: in batches.
lookups = data.'/core.csv'
array names[5] = ['block=0', 'block=31744', 'block=512', 'libbloom', 'RocksDB']
array colours[5] = [table, '#56B4E9', green, blob, key]
unset logscale
unset key
set lmargin 13
set rmargin 4
set grid x lc rgb '#dddddd' lw 0.7
set format x '%g'
set format y '%s'
set ytics scale 0 ('' 0)
do for [i = 1:5] { set ytics add (names[i] i) }
unset ylabel
set xlabel 'ns per lookup of a present key (further left is better)'
eval svg(600, 860)
file = charts.'/core.svg'
set output file
set multiplot layout 2, 1
do for [panel = 0:1] {
  first = 5 * panel
  set xrange [*:*]
  set yrange [*:*]
  stats lookups every ::first::first+4 using 3 nooutput
  set yrange [5.7:0.3]
  set xrange [0:1.12 * STATS_max]
  set title 'Filter of '.system(sprintf("sed -n %dp '%s' | cut -d , -f 1", first + 2, lookups)).' (filled: one lookup at a time, hollow: in batches)'
  plot for [i = 1:5] lookups every ::first+i-1::first+i-1 using 3:(i) with points pt 7 ps 0.8 lc rgb colours[i], \
    for [i = 1:5] '' every ::first+i-1::first+i-1 using 3:(i):(sprintf('%g', column(3))) with labels offset 0, 0.9, \
    for [i = 1:5] '' every ::first+i-1::first+i-1 using 4:(i) with points pt 6 ps 0.8 lw 2 lc rgb colours[i], \
    for [i = 1:5] '' every ::first+i-1::first+i-1 using 4:(i):(sprintf('%g', column(4))) with labels offset 0, -0.9
}
unset multiplot
unset output
done = describe(file, 'Time per lookup of the C++ core by size of the filter', 'Two dot charts with linear axes: block=0, block=31744 and block=512 of this extension, libbloom and RocksDB, above with a filter of 256 KiB and below with one of 256 MiB. One lookup at a time, block=512 and RocksDB take about 10 ns in the small filter and about 70 ns in the large one, libbloom 26 and 253 ns. In batches, which libbloom does not have, block=512 and RocksDB take about 20 ns in the large filter.')
