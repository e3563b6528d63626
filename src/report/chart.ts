/**
 * The frame and the marks of a chart over days. The drawing is as wide as its container, and its text keeps its size. Horizontal
 * positions are percentages, vertical ones are pixels. Curves are in an inner drawing that is stretched, because paths
 * do not support percentages.
 */
import { scaleLinear, scaleUtc } from 'd3-scale';
import { dayNumber, dayOf } from '../day.ts';
import { compact, shortDay } from './figures.ts';
import { type Content, html, type Markup } from './markup.ts';
import { area, curveStepAfter, line } from 'd3-shape';

/** The scales of a chart: positions of days and values. */
interface ChartFrame {
  /** Every day from the first to the last. */
  readonly days: readonly string[];
  readonly unit: string | undefined;
  /** Round values at which the scale draws a line. */
  readonly ticks: readonly number[];
  /** The vertical position of a value, in pixels from the top. */
  readonly down: (value: number) => number;
  /** The left edge of a day, as a percentage of the width, by the index of the day. */
  readonly across: (dayIndex: number) => number;
  /** Height of the drawing, and the vertical position of zero, in pixels. */
  readonly height: number;
  readonly floor: number;
}

export interface ChartFrameOptions {
  readonly days: readonly string[];
  /** The greatest value to show. */
  readonly maxValue: number;
  /** Height of the plot in pixels, without the axis of days below it. */
  readonly plotHeight: number;
  /** The unit of the scale, if the text beside the chart does not name it. */
  readonly unit?: string;
}

/** Space above the plot, with and without a unit, and below it for the days, in pixels. */
const ABOVE = 22;
const ABOVE_BARE = 8;
const BELOW = 18;
/** The approximate number of lines of a scale. With fewer lines, up to half of a chart is empty. */
const LINES = 3;
/** Space for the numbers of the scale, left of the plot, in pixels. The style sheet uses the same value. */
const GUTTER = 44;

/**
 * A frame whose scale ends with a line at the least round value that is not below the greatest value. Values are counts,
 * so the lines of the scale are at integers.
 */
export function frameOf({ days, maxValue, plotHeight, unit }: ChartFrameOptions): ChartFrame {
  const above = unit === undefined ? ABOVE_BARE : ABOVE;
  const floor = above + plotHeight;
  const scale = scaleLinear()
    .domain([0, Math.max(1, maxValue)])
    .nice(LINES)
    .range([floor, above]);
  return {
    days,
    unit,
    ticks: scale.ticks(LINES).filter((it) => it > 0 && Number.isInteger(it)),
    down: (value) => rounded(scale(value)),
    across: (dayIndex) => rounded((dayIndex / days.length) * 100),
    height: floor + BELOW,
    floor,
  };
}

/** The value rounded to hundredths, which are finer than the resolution of a screen. */
export const rounded = (value: number): number => Math.round(value * 100) / 100;

interface ChartDrawing {
  /** The most important figures in one sentence, for screen readers. */
  readonly label: string;
  /** Id of the table with the figures of the chart. */
  readonly figures: string;
  readonly marks: Content;
}

/** The drawing: lines and numbers of the scale, the marks above them, and the axis of days. */
export function drawing(frame: ChartFrame, { label, figures, marks }: ChartDrawing): Markup {
  const { height, floor } = frame;
  return html`<svg class="chart" width="100%" height="${height}" role="img" aria-label="${label}" aria-details="${figures}" data-figures="${figures}">
${frame.ticks.map((it) => html`<line class="rule" x1="0" x2="100%" y1="${frame.down(it)}" y2="${frame.down(it)}"/>`)}
${marks}
<line class="floor" x1="0" x2="100%" y1="${floor}" y2="${floor}"/>
${frame.ticks.map((it) => html`<text class="tick end" x="-8" y="${frame.down(it) + 4}">${compact(it)}</text>`)}
${frame.unit !== undefined && html`<text class="tick start" x="-${GUTTER}" y="10">${frame.unit}</text>`}
${dayTicks(frame.days).map((dayIndex) => {
  const x = frame.across(dayIndex + 0.5);
  return html`<line class="floor" x1="${x}%" x2="${x}%" y1="${floor}" y2="${floor + 4}"/><text class="tick ${anchorAt(x)}" x="${x}%" y="${height - 3}">${shortDay(frame.days[dayIndex] ?? '')}</text>`;
})}
</svg>`;
}

const anchorAt = (percent: number): string => (percent < 6 ? 'start' : percent > 94 ? 'end' : 'middle');

/** The approximate number of labels on the axis of days. */
const DAYS_NAMED = 3;

/** Indexes of the days that get a label, such as the first day of a month. */
function dayTicks(days: readonly string[]): number[] {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return [];
  const scale = scaleUtc().domain([new Date(`${first}T00:00:00Z`), new Date(`${last}T00:00:00Z`)]);
  return scale.ticks(DAYS_NAMED).map((it) => dayNumber(dayOf(it)) - dayNumber(first));
}

/** Marks in an inner drawing that is stretched over the frame; its horizontal unit is a day. */
const stretchedMarks = (frame: ChartFrame, marks: Content): Markup =>
  html`<svg x="0" y="0" width="100%" height="${frame.height}" viewBox="0 0 ${frame.days.length} ${frame.height}" preserveAspectRatio="none">${marks}</svg>`;

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
