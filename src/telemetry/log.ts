/** The log of a command: JSON lines for machines or plain lines for people, with secrets redacted in both. */
import { pino } from 'pino';
import { escapeJsonControls, escapeControls } from '../text/terminal-safe.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The fields of a log line, with values that JSON can represent. */
export type LogFacts = Readonly<Record<string, unknown>>;

/** A log that writes one line for each call. */
export interface Log {
  readonly debug: (message: string, facts?: LogFacts) => void;
  readonly info: (message: string, facts?: LogFacts) => void;
  readonly warn: (message: string, facts?: LogFacts) => void;
  readonly error: (message: string, facts?: LogFacts) => void;
}

export interface LogOptions {
  /** `json` for a collector of logs, `plain` for a reader. */
  readonly style: 'json' | 'plain';
  /** The lowest level that is written. */
  readonly level: LogLevel;
  /** Receives complete lines, each with its line break. */
  readonly write: (line: string) => void;
  readonly redact: (text: string) => string;
  readonly now: () => Date;
}

export function createLog(options: LogOptions): Log {
  return options.style === 'json' ? jsonLog(options) : plainLog(options);
}

/** A log of JSON lines. The finished line is redacted, so that no field, nested or not, can leak a secret. */
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
  const logAt =
    (name: LogLevel) =>
    (message: string, facts: LogFacts = {}) =>
      log[name](facts, message);
  return { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
}

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

function plainLog({ level, write, redact }: LogOptions): Log {
  const logAt =
    (name: LogLevel) =>
    (message: string, facts: LogFacts = {}): void => {
      if (ORDER.indexOf(name) < ORDER.indexOf(level)) return;
      const fields = Object.entries(facts).flatMap(([key, value]) =>
        value === undefined ? [] : [`${key}=${inWords(value)}`],
      );
      const prefix = name === 'info' ? '' : `${name}: `;
      const suffix = fields.length > 0 ? ` (${fields.join(', ')})` : '';
      write(`${escapeControls(redact(`${prefix}${message}${suffix}`))}\n`);
    };
  return { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
}

const inWords = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));
