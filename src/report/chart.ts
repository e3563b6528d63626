/**
 * The frame of a chart over days. The drawing is as wide as its container, and its text keeps its size. Horizontal
 * positions are percentages, vertical ones are pixels. Curves are in an inner drawing that is stretched, because paths
 * do not support percentages.
 */
import { scaleLinear, scaleUtc } from 'd3-scale';
import { dayNumber, dayOf } from '../day.ts';
import { compact, shortDay } from './figures.ts';
import { type Content, html, type Markup } from './markup.ts';

/** The scales of a chart: positions of days and values. */
export interface ChartFrame {
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

export interface ChartDrawing {
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
export const stretchedMarks = (frame: ChartFrame, marks: Content): Markup =>
  html`<svg x="0" y="0" width="100%" height="${frame.height}" viewBox="0 0 ${frame.days.length} ${frame.height}" preserveAspectRatio="none">${marks}</svg>`;
