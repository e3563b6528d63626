/** What a command tells while it works: JSON lines for machines, plain lines for people, secrets redacted in both. */
import { pino } from 'pino';
import { escapeJsonControls, escapeControls } from '../text/terminal-safe.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Facts of a log line; each is a value that JSON can hold. */
export type LogFacts = Readonly<Record<string, unknown>>;

/** One line a call. */
export interface Log {
  readonly debug: (message: string, facts?: LogFacts) => void;
  readonly info: (message: string, facts?: LogFacts) => void;
  readonly warn: (message: string, facts?: LogFacts) => void;
  readonly error: (message: string, facts?: LogFacts) => void;
}

export interface LogOptions {
  /** `json` for a collector of logs, `plain` for a reader. */
  readonly style: 'json' | 'plain';
  /** The least level that is told. */
  readonly level: LogLevel;
  /** Takes whole lines, each with its line break. */
  readonly write: (line: string) => void;
  readonly redact: (text: string) => string;
  readonly now: () => Date;
}

export function createLog(options: LogOptions): Log {
  return options.style === 'json' ? jsonLog(options) : plainLog(options);
}

/** Redacted as finished text, so that no field, nested or not, can carry a secret past it. */
function jsonLog({ level, write, redact, now }: LogOptions): Log {
  const log = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${now().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => write(escapeJsonControls(redact(line))) },
  );
  const at =
    (name: LogLevel) =>
    (message: string, facts: LogFacts = {}) =>
      log[name](facts, message);
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

function plainLog({ level, write, redact }: LogOptions): Log {
  const at =
    (name: LogLevel) =>
    (message: string, facts: LogFacts = {}): void => {
      if (ORDER.indexOf(name) < ORDER.indexOf(level)) return;
      const told = Object.entries(facts).flatMap(([key, value]) =>
        value === undefined ? [] : [`${key}=${inWords(value)}`],
      );
      const mark = name === 'info' ? '' : `${name}: `;
      const tail = told.length > 0 ? ` (${told.join(', ')})` : '';
      write(`${escapeControls(redact(`${mark}${message}${tail}`))}\n`);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

const inWords = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));
