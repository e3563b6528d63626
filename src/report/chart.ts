/**
 * The frame of a chart over days: a drawing as wide as its place, whose text keeps its size. Across, everything is in
 * per cent; down, in pixels. Curves lie in an inner drawing that is stretched, since paths know no per cent.
 */
import { scaleLinear, scaleUtc } from 'd3-scale';
import { compact, dayAt, dayNumber, dayOf, shortDay } from './figures.ts';
import { type Content, html, type Markup } from './markup.ts';

/** Where values of a chart lie. */
export interface ChartFrame {
  /** Every day from the first to the last. */
  readonly days: readonly string[];
  readonly unit: string | undefined;
  /** Round values at which the scale has a line. */
  readonly ticks: readonly number[];
  /** Pixels down to a value. */
  readonly down: (value: number) => number;
  /** Per cent across to the left edge of a day, by its place. */
  readonly across: (place: number) => number;
  /** Height in pixels of the drawing, and down to where the values begin. */
  readonly height: number;
  readonly floor: number;
}

export interface ChartFrameOptions {
  readonly days: readonly string[];
  /** Greatest value to show. */
  readonly maxValue: number;
  /** Pixels that the values take, without the line of days below. */
  readonly plotHeight: number;
  /** What the numbers of the scale count, where nothing beside the chart says so. */
  readonly unit?: string;
}

/** Room above the values, with and without a unit, and for days below them. */
const ABOVE = 22;
const ABOVE_BARE = 8;
const BELOW = 18;
/** About how many lines a scale has; with fewer, round scales leave up to half of a chart empty. */
const LINES = 3;
/** Room for the scale's numbers left of the values; the style has the same. */
const GUTTER = 44;

/**
 * A frame whose scale ends at a round value, with a line there: the least that is not below the greatest value. It is for
 * whole things: no scale is finer than one.
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
    across: (place) => rounded((place / days.length) * 100),
    height: floor + BELOW,
    floor,
  };
}

/** Hundredths are finer than any screen. */
export const rounded = (value: number): number => Math.round(value * 100) / 100;

export interface ChartDrawing {
  /** What it shows, for those who don't see it: the figures that matter in one sentence. */
  readonly label: string;
  /** Id of the table that holds its figures. */
  readonly figures: string;
  readonly marks: Content;
}

/** The drawing: lines and numbers of the scale, the marks over them, days below. */
export function drawing(frame: ChartFrame, { label, figures, marks }: ChartDrawing): Markup {
  const { height, floor } = frame;
  return html`<svg class="chart" width="100%" height="${height}" role="img" aria-label="${label}" aria-details="${figures}" data-figures="${figures}">
${frame.ticks.map((it) => html`<line class="rule" x1="0" x2="100%" y1="${frame.down(it)}" y2="${frame.down(it)}"/>`)}
${marks}
<line class="floor" x1="0" x2="100%" y1="${floor}" y2="${floor}"/>
${frame.ticks.map((it) => html`<text class="tick end" x="-8" y="${frame.down(it) + 4}">${compact(it)}</text>`)}
${frame.unit !== undefined && html`<text class="tick start" x="-${GUTTER}" y="10">${frame.unit}</text>`}
${dayTicks(frame.days).map((place) => {
  const at = frame.across(place + 0.5);
  return html`<line class="floor" x1="${at}%" x2="${at}%" y1="${floor}" y2="${floor + 4}"/><text class="tick ${anchorAt(at)}" x="${at}%" y="${height - 3}">${shortDay(frame.days[place] ?? '')}</text>`;
})}
</svg>`;
}

const anchorAt = (percent: number): string => (percent < 6 ? 'start' : percent > 94 ? 'end' : 'middle');

/** About how many days are written below a chart. */
const DAYS_NAMED = 3;

/** Places of round days, such as the firsts of months. */
function dayTicks(days: readonly string[]): number[] {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return [];
  const scale = scaleUtc().domain([new Date(`${first}T00:00:00Z`), new Date(`${last}T00:00:00Z`)]);
  return scale.ticks(DAYS_NAMED).map((it) => dayNumber(dayOf(it)) - dayNumber(first));
}

/** Marks in a drawing of their own that is stretched over the frame; a unit across is a day. */
export const stretchedMarks = (frame: ChartFrame, marks: Content): Markup =>
  html`<svg x="0" y="0" width="100%" height="${frame.height}" viewBox="0 0 ${frame.days.length} ${frame.height}" preserveAspectRatio="none">${marks}</svg>`;

/** Every day from one to another, both counted. */
export const daysFrom = (first: string, last: string): string[] =>
  Array.from({ length: dayNumber(last) - dayNumber(first) + 1 }, (_, place) => dayAt(dayNumber(first) + place));
