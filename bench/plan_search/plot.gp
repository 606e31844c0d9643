# Draws the tables that `berth_bench_plan_search --points RESULT --out DIRECTORY` writes:
#   gnuplot -c bench/plan_search/plot.gp DIRECTORY
# DIRECTORY/search-*.tsv becomes an SVG next to it: gap against time, a line for each contender's median, a band from its
# lowest to its highest. The first line of a table is its title; the next names the columns.
directory = ARG1

# Colours that people with colour blindness distinguish (Okabe and Ito).
contenders = "price sruf-fill optimus pop exact-choice exact ones elastic-pollux ones-plus ones-plus-all"
colours = "#000000 #8c6d31 #e69f00 #56b4e9 #777777 #777777 #009e73 #cc79a7 #d55e00 #0072b2"
dashed = " sruf-fill optimus pop exact-choice ones-plus-all "
index_of(name) = sum [i=1:words(contenders)] (word(contenders, i) eq name ? i : 0)
colour(name) = index_of(name) > 0 ? word(colours, index_of(name)) : "#777777"
dash(name) = strstrt(dashed, " " . name . " ") > 0 ? 2 : 1

least = 1e-3  # per cent; what is less, and 0, lies on the axis
shown(gap) = gap < least ? least : gap

set terminal svg size 740,396 font "sans-serif,12" background "#ffffff"
set encoding utf8
set datafile separator "\t"
set datafile missing "?"
set logscale xy
set grid linecolor "#dddddd" linetype 1
set xlabel "time since the call, ms"
set format "%g"
set ytics add ("≤ 0.001" least)
set key outside right top Left reverse
set style fill transparent solid 0.1 noborder

do for [table in system("ls " . directory . "/search-*.tsv")] {
  head = system("head -n 1 " . table)
  names = system("sed -n '2s/ms\t//p' " . table . " | tr '\t' '\n' | sed -n 's/ median$//p'")
  set title head[3:] noenhanced
  set ylabel strstrt(table, "separable") > 0 ? "below the separable bound, %" : "below the best known, %"
  set output table[:strlen(table) - 4] . ".svg"
  plot for [i=1:words(names)] table using 1:(shown(column(3*i-1))):(shown(column(3*i+1))) \
         with filledcurves linecolor rgb colour(word(names, i)) notitle, \
       for [i=1:words(names)] table using 1:(shown(column(3*i))) \
         with lines linewidth 2 linecolor rgb colour(word(names, i)) dashtype dash(word(names, i)) title word(names, i) noenhanced
  unset output
}
