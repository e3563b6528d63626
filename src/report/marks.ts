/** The marks of charts over days: bars, a filled curve, and the dashed line of a forecast. */
import { area, curveStepAfter, line } from 'd3-shape';
import { type ChartFrame, rounded, stretchedMarks } from './chart.ts';
import { html, type Markup } from './markup.ts';

/** Part of a day's width that its bar takes. */
const BAR = 0.78;

/** A bar for each day. Hovering over a day shows its figure, which `format` makes from the value. */
export function bars(frame: ChartFrame, values: readonly number[], format: (value: number) => string): Markup {
  return html`${values.map((value, dayIndex) => {
    const [x, wide] = [frame.across(dayIndex), rounded(100 / frame.days.length)];
    const y = frame.down(value);
    const bar =
      value > 0 &&
      html`<rect class="bar" x="${rounded(x + (wide * (1 - BAR)) / 2)}%" y="${Math.min(y, frame.floor - 1)}" width="${rounded(wide * BAR)}%" height="${rounded(Math.max(1, frame.floor - y))}"/>`;
    return html`<g>${tip(frame, dayIndex, format(value))}${bar}</g>`;
  })}`;
}

/** An invisible column over a day that shows its figure on hover. */
function tip(frame: ChartFrame, dayIndex: number, figure: string): Markup {
  const text = `${frame.days[dayIndex] ?? ''}: ${figure}`;
  return html`<title>${text}</title><rect class="tip" x="${frame.across(dayIndex)}%" y="0" width="${rounded(100 / frame.days.length)}%" height="${frame.height}"/>`;
}

/** A step curve of the values by day, filled down to zero. Days without a value are gaps. */
export function filled(
  frame: ChartFrame,
  values: readonly (number | null)[],
  format: (value: number) => string,
): Markup {
  const points = stepsOf(values);
  const defined = ({ value }: Step): boolean => value !== null;
  const x = ({ at }: Step): number => at;
  const y = ({ value }: Step): number => frame.down(value ?? 0);
  const fill = area<Step>().defined(defined).x(x).y0(frame.floor).y1(y).curve(curveStepAfter).digits(2);
  const edge = line<Step>().defined(defined).x(x).y(y).curve(curveStepAfter).digits(2);
  const paths = html`<path class="fill" d="${fill(points) ?? ''}"/><path class="edge" d="${edge(points) ?? ''}"/>`;
  return html`${stretchedMarks(frame, paths)}${values.map((value, dayIndex) => value !== null && html`<g>${tip(frame, dayIndex, format(value))}</g>`)}`;
}

interface Step {
  /** The horizontal position, in days from the left. */
  readonly at: number;
  readonly value: number | null;
}

/** The points of the curve. The value of a day holds until the end of the day, so the last day has two points. */
function stepsOf(values: readonly (number | null)[]): Step[] {
  const steps: Step[] = values.map((value, at) => ({ at, value }));
  return values.length === 0 ? steps : [...steps, { at: values.length, value: values.at(-1) ?? null }];
}

/** A dashed line between two points of the frame. */
export function expected(frame: ChartFrame, from: Step, to: Step): Markup {
  const path = line<Step>()
    .x(({ at }) => at)
    .y(({ value }) => frame.down(value ?? 0))
    .digits(2);
  return stretchedMarks(frame, html`<path class="expected" d="${path([from, to]) ?? ''}"/>`);
}
