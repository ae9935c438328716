// Charts that take longer than a frame: they are painted once the view rests.

/** How long nothing may change until then, ms. */
const REST = 150;

/** Make a chart paint when nothing has changed for a while, and return it. */
export function atRest(chart) {
  let timer = 0;
  const paint = chart.paint.bind(chart), destroy = chart.destroy.bind(chart);
  chart.paint = (from, to) => {
    clearTimeout(timer);
    timer = setTimeout(() => paint(from, to), REST);
  };
  chart.destroy = () => {
    clearTimeout(timer);
    destroy();
  };
  return chart;
}
