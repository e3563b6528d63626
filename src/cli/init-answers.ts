/** The choices for a first config: from the command line, otherwise from answers of the user, otherwise the defaults. */
import { insteadOf } from '../config/document/nearest.ts';
import { starters } from '../config/starters.ts';
import { defaultInitAnswers, type InitAnswers } from '../config/template.ts';
import { UsageError } from '../errors.ts';
import { catalog } from '../service/catalog.ts';
import type { Ask } from './terminal/question.ts';

/** The choices on the command line. */
export interface InitArguments {
  readonly endpoints: readonly string[];
  readonly warehouse: string | undefined;
  readonly pointsPerRun: number | undefined;
}

/** The endpoints that can be chosen, in the order of their numbers. */
const CHOICES = Object.keys(starters);

/**
 * The choices. Asks the user for those that are not on the command line; without `ask`, they get their defaults. Throws a
 * UsageError for an invalid choice.
 */
export async function initAnswers(given: InitArguments, ask: Ask | undefined): Promise<InitAnswers> {
  // Errors of the command line are reported before the first question.
  const endpoints = given.endpoints.length > 0 ? endpointsOf(given.endpoints) : undefined;
  const warehouse = given.warehouse === undefined ? undefined : warehouseOf(given.warehouse);
  const answerTo = async <T>(question: string, read: (text: string) => T, fallback: T): Promise<T> =>
    ask ? answered(ask, question, read, fallback) : fallback;
  return {
    endpoints:
      endpoints ??
      (await answerTo(ENDPOINTS, (text) => endpointsOf(text.split(/[\s,]+/)), defaultInitAnswers.endpoints)),
    warehouse: warehouse ?? (await answerTo(WAREHOUSE, warehouseOf, defaultInitAnswers.warehouse)),
    pointsPerRun: given.pointsPerRun ?? (await answerTo(POINTS, pointsOf, defaultInitAnswers.pointsPerRun)),
  };
}

const listed = CHOICES.map((name, index) => {
  const about = catalog.find((it) => it.name === name)?.about ?? '';
  return `  ${index + 1}  ${name.padEnd(24)}${about}\n`;
}).join('');

const ENDPOINTS = `Which endpoints should the config request?\n${listed}Numbers or names, separated by commas, or all [1]: `;
const WAREHOUSE =
  'Where to store the answers: embedded (in this folder, without a server) or postgres (the server in DATABASE_URL) [embedded]: ';
const POINTS = 'Maximum number of points that a run may spend [100]: ';

/** The answer of the user; the default for an empty line. Repeats the question after an invalid answer. */
async function answered<T>(ask: Ask, question: string, read: (text: string) => T, fallback: T): Promise<T> {
  for (let prompt = question; ; ) {
    const text = await ask(prompt);
    if (text === '') return fallback;
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      prompt = `${error.message}: `;
    }
  }
}

function endpointsOf(words: readonly string[]): string[] {
  const chosen = words.filter((it) => it !== '');
  if (chosen.includes('all')) return CHOICES;
  return chosen.map((word) => {
    const name = /^\d+$/.test(word) ? (CHOICES[Number(word) - 1] ?? word) : word;
    if (CHOICES.includes(name)) return name;
    throw new UsageError(
      `${JSON.stringify(word)} is not an endpoint for a first config${insteadOf(word, [...CHOICES, 'all'])}`,
      { next: 'Name allowed endpoints, or none.' },
    );
  });
}

function warehouseOf(word: string): InitAnswers['warehouse'] {
  if (word === 'embedded' || word === 'postgres') return word;
  throw new UsageError(`${JSON.stringify(word)} is not a kind of warehouse; allowed: embedded, postgres`, {
    next: 'Put the address of a Postgres server into DATABASE_URL, not here.',
  });
}

function pointsOf(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new UsageError(`${JSON.stringify(text)} is not a number of points; allowed is a whole number, 1 or more`);
}
