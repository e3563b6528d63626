/** The log of a command: JSON lines for machines or plain lines for people, with secrets redacted in both. */
import { pino } from 'pino';
import { escapeJsonControls, escapeControls } from '../text/terminal-safe.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The fields of a log line, with values that JSON can represent. */
export type LogFacts = Readonly<Record<string, unknown>>;

type LogLine = (message: string, facts?: LogFacts) => void;

/** A log that writes one line for each call. */
export type Log = Readonly<Record<LogLevel, LogLine>>;

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
  const lineAt = options.style === 'json' ? jsonLines(options) : plainLines(options);
  return { debug: lineAt('debug'), info: lineAt('info'), warn: lineAt('warn'), error: lineAt('error') };
}

/** Lines of JSON. The finished line is redacted, so that no field, nested or not, can leak a secret. */
function jsonLines({ level, write, redact, now }: LogOptions): (name: LogLevel) => LogLine {
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
  return (name) =>
    (message, facts = {}) =>
      log[name](facts, message);
}

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

function plainLines({ level, write, redact }: LogOptions): (name: LogLevel) => LogLine {
  return (name) =>
    (message, facts = {}) => {
      if (ORDER.indexOf(name) < ORDER.indexOf(level)) return;
      const fields = Object.entries(facts).flatMap(([key, value]) =>
        value === undefined ? [] : [`${key}=${inWords(value)}`],
      );
      const prefix = name === 'info' ? '' : `${name}: `;
      const suffix = fields.length > 0 ? ` (${fields.join(', ')})` : '';
      write(`${escapeControls(redact(`${prefix}${message}${suffix}`))}\n`);
    };
}

const inWords = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));
