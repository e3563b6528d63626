/** The marks of charts over days: bars, a filled curve, and where a line is expected to go. */
import { area, curveStepAfter, line } from 'd3-shape';
import { type ChartFrame, rounded, stretchedMarks } from './chart.ts';
import { html, type Markup } from './markup.ts';

/** Part of a day's width that its bar takes. */
const BAR = 0.78;

/** A bar for each day; hovering anywhere over a day tells its figure. `told` words a value. */
export function bars(frame: ChartFrame, values: readonly number[], told: (value: number) => string): Markup {
  return html`${values.map((value, place) => {
    const [x, wide] = [frame.across(place), rounded(100 / frame.days.length)];
    const y = frame.down(value);
    const bar =
      value > 0 &&
      html`<rect class="bar" x="${rounded(x + (wide * (1 - BAR)) / 2)}%" y="${Math.min(y, frame.floor - 1)}" width="${rounded(wide * BAR)}%" height="${rounded(Math.max(1, frame.floor - y))}"/>`;
    return html`<g>${tip(frame, place, told(value))}${bar}</g>`;
  })}`;
}

/** An invisible column over a day, which tells its figure when hovered. */
function tip(frame: ChartFrame, place: number, told: string): Markup {
  const text = `${frame.days[place] ?? ''}: ${told}`;
  return html`<title>${text}</title><rect class="tip" x="${frame.across(place)}%" y="0" width="${rounded(100 / frame.days.length)}%" height="${frame.height}"/>`;
}

/** What grew day by day, filled down to nothing; days without a value are left open. */
export function filled(frame: ChartFrame, values: readonly (number | null)[], told: (value: number) => string): Markup {
  const points = stepsOf(values);
  const defined = ({ value }: Step): boolean => value !== null;
  const x = ({ at }: Step): number => at;
  const y = ({ value }: Step): number => frame.down(value ?? 0);
  const fill = area<Step>().defined(defined).x(x).y0(frame.floor).y1(y).curve(curveStepAfter).digits(2);
  const edge = line<Step>().defined(defined).x(x).y(y).curve(curveStepAfter).digits(2);
  const paths = html`<path class="fill" d="${fill(points) ?? ''}"/><path class="edge" d="${edge(points) ?? ''}"/>`;
  return html`${stretchedMarks(frame, paths)}${values.map((value, place) => value !== null && html`<g>${tip(frame, place, told(value))}</g>`)}`;
}

interface Step {
  /** Days from the left. */
  readonly at: number;
  readonly value: number | null;
}

/** A day's value holds to the end of its day, so the last has a second point. */
function stepsOf(values: readonly (number | null)[]): Step[] {
  const steps: Step[] = values.map((value, at) => ({ at, value }));
  return values.length === 0 ? steps : [...steps, { at: values.length, value: values.at(-1) ?? null }];
}

/** A dashed line from one point of the frame to another; places are counted in days from the left. */
export function expected(frame: ChartFrame, from: Step, to: Step): Markup {
  const path = line<Step>()
    .x(({ at }) => at)
    .y(({ value }) => frame.down(value ?? 0))
    .digits(2);
  return stretchedMarks(frame, html`<path class="expected" d="${path([from, to]) ?? ''}"/>`);
}
