/** Formats the status of the engine for people: processes, queues, runs, jobs that were given up, and schedules. */
import type { EngineStatus } from '../../engine/status.ts';
import { escapeControls } from '../../text/terminal-safe.ts';
import type { Context } from '../context.ts';
import { column, duration, tableOf, withNoun } from '../terminal/print.ts';

/** The text, with a blank line before it; empty if no engine ever ran. */
export function engineStatusText(status: EngineStatus | undefined, { now, out }: Pick<Context, 'now' | 'out'>): string {
  if (!status) return '';
  const { workers, queues, runs, schedules, givenUp, givenUpJobs } = status;
  const sinceText = (at: Date): string => duration(Math.max(0, now().getTime() - at.getTime()));
  const lines = [
    workers.length === 0
      ? 'no schedule or worker is running'
      : workers.map(({ role, holder, since }) => `${role} ${holder}, for ${sinceText(since)}`).join('\n'),
    ...queues.map(
      ({ queue, waiting, later, atWork }) => `${queue} jobs: ${atWork} running, ${waiting} waiting, ${later} delayed`,
    ),
    ...runs.map(
      ({ sync, chunks, ended, atWork }) => `${sync}: ${withNoun(chunks, 'chunk')}, ${ended} done, ${atWork} running`,
    ),
    ...givenUp.map(({ sync, because, at }) => `given up ${sinceText(at)} ago: ${sync}: ${because}`),
    ...(givenUpJobs > givenUp.length ? [`and ${withNoun(givenUpJobs - givenUp.length, 'more job')} given up`] : []),
    ...(givenUp.length > 0 ? ['next: fix the cause, then run sluice schedule --redrive'] : []),
  ];
  const text = lines.flatMap((line) => line.split('\n').map((it) => `${escapeControls(it)}\n`)).join('');
  const firings = tableOf(schedules, out, [
    column('sync', (it) => it.sync),
    column('schedule', (it) => it.cron),
    column('time zone', (it) => it.timezone),
    column('next firing', (it) => it.nextAt),
  ]);
  return `\n${text}${firings && `\n${firings}`}`;
}
