/** A section of the page, and the display of run states that all sections share. */
import { html, type Markup } from '../markup.ts';

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly body: Markup;
}

/** States that need no action. */
const CALM = ['complete', 'running'];

/** True if a person should look at a run in this state. */
export const needsCare = (state: string): boolean => !CALM.includes(state);

/** States of runs, of requests and of slices. All others are warnings. */
const TONES: Readonly<Record<string, string>> = {
  complete: 'good',
  loaded: 'good',
  fresh: 'good',
  empty: 'good',
  running: 'idle',
  planned: 'idle',
  sent: 'idle',
  stored: 'idle',
  skipped: 'idle',
  open: 'idle',
  failed: 'bad',
  quarantined: 'bad',
};

/** The severity of a state: good, idle, warn or bad. */
export const toneOf = (state: string): string => TONES[state] ?? 'warn';

/** Shapes that distinguish the severities without colour: a disc, a ring, a triangle, a cross. */
const SHAPES: Readonly<Record<string, Markup>> = {
  good: html`<circle cx="6" cy="6" r="4.5"/>`,
  idle: html`<circle cx="6" cy="6" r="3.75" class="ring"/>`,
  warn: html`<path d="M6 1 11.5 11H.5Z"/>`,
  bad: html`<path class="cross" d="M2 2 10 10M10 2 2 10"/>`,
};

/** A state in words, with its symbol. */
export function stateMark(state: string): Markup {
  const tone = toneOf(state);
  return html`<span class="state ${tone}"><svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">${SHAPES[tone]}</svg> ${stateWords(state)}</span>`;
}

/** A state in words. */
export const stateWords = (state: string): string => state.replaceAll('_', ' ');
