/** What somebody wants of a first config: as the command line says, else as they answer, else what is usual. */
import { insteadOf } from '../config/document/nearest.ts';
import { starters } from '../config/starters.ts';
import { defaultInitAnswers, type InitAnswers } from '../config/template.ts';
import { UsageError } from '../errors.ts';
import { catalog } from '../service/catalog.ts';
import type { Ask } from './terminal/question.ts';

/** What was said on the command line. */
export interface InitArguments {
  readonly endpoints: readonly string[];
  readonly warehouse: string | undefined;
  readonly pointsPerRun: number | undefined;
}

/** Names that can be chosen, in the order in which they are numbered. */
const CHOICES = Object.keys(starters);

/** The wishes; asks for what was not said, when there is somebody to ask. Throws a UsageError for what can't be had. */
export async function initAnswers(said: InitArguments, ask: Ask | undefined): Promise<InitAnswers> {
  // What is wrong is told before the first question.
  const endpoints = said.endpoints.length > 0 ? endpointsOf(said.endpoints) : undefined;
  const warehouse = said.warehouse === undefined ? undefined : warehouseOf(said.warehouse);
  const answerTo = async <T>(question: string, read: (text: string) => T, usual: T): Promise<T> =>
    ask ? answered(ask, question, read, usual) : usual;
  return {
    endpoints:
      endpoints ??
      (await answerTo(ENDPOINTS, (text) => endpointsOf(text.split(/[\s,]+/)), defaultInitAnswers.endpoints)),
    warehouse: warehouse ?? (await answerTo(WAREHOUSE, warehouseOf, defaultInitAnswers.warehouse)),
    pointsPerRun: said.pointsPerRun ?? (await answerTo(POINTS, pointsOf, defaultInitAnswers.pointsPerRun)),
  };
}

const listed = CHOICES.map((name, at) => {
  const about = catalog.find((it) => it.name === name)?.about ?? '';
  return `  ${at + 1}  ${name.padEnd(24)}${about}\n`;
}).join('');

const ENDPOINTS = `What shall be asked?\n${listed}Numbers or names with commas between, or all [1]: `;
const WAREHOUSE =
  'Where shall the answers go: embedded (a folder here, no server needed) or postgres (yours, by DATABASE_URL) [embedded]: ';
const POINTS = 'The most points that a run may spend [100]: ';

/** The answer, asked for until it can be had; the usual one for an empty line. */
async function answered<T>(ask: Ask, question: string, read: (text: string) => T, usual: T): Promise<T> {
  for (let told = question; ; ) {
    const text = await ask(told);
    if (text === '') return usual;
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      told = `${error.message}: `;
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
      `${JSON.stringify(word)} is no endpoint to begin with${insteadOf(word, [...CHOICES, 'all'])}`,
      {
        next: 'Name one of them, or none.',
      },
    );
  });
}

function warehouseOf(word: string): InitAnswers['warehouse'] {
  if (word === 'embedded' || word === 'postgres') return word;
  throw new UsageError(`${JSON.stringify(word)} is no kind of warehouse; allowed: embedded, postgres`, {
    next: 'The address of a Postgres goes into DATABASE_URL, not here.',
  });
}

function pointsOf(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new UsageError(`${JSON.stringify(text)} is no number of points; allowed is a whole number, 1 or more`);
}
