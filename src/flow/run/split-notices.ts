/** Tells of questions that one answer can't hold: how many more requests their parts come to, before these are sent. */
import type { Notice } from '../../ledger/summary.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Follow } from '../../service/paging.ts';

/** A question that is asked in parts. */
export interface SplitEvent {
  readonly depth: number;
  readonly input: RequestBody;
  readonly request: RequestBody;
  readonly parts: Follow;
  /** False of one that was predicted to be full. */
  readonly wasSent: boolean;
}

export interface SplitNotices {
  readonly onSplit: (cut: SplitEvent) => void;
  /** Tells of all those together that were not told one by one. */
  readonly end: () => void;
}

/** Questions of a run that are told one by one; a sync may have thousands. */
const TOLD = 3;

/** Notices on the cuts of one sync's run. `maxPointsOf` returns the most points that a request can cost. */
export function splitNotices(
  sync: string,
  maxPointsOf: (request: RequestBody) => number,
  onNotice: (notice: Notice) => void,
): SplitNotices {
  const others = { questions: 0, requests: 0, points: 0 };
  let told = 0;
  return {
    onSplit: ({ depth, input, request, parts: into, wasSent }) => {
      // The parts' own parts are foreseen in the first figure.
      if (depth > 0) return;
      const requests = into.estimate?.requests ?? into.requests.length;
      const points = requests * Math.max(...into.requests.map(maxPointsOf));
      if (told >= TOLD) {
        others.questions += 1;
        others.requests += requests;
        others.points += points;
        return;
      }
      told += 1;
      const of = Object.keys(input).length === 0 ? '' : ` ${JSON.stringify(input)}`;
      const held = wasSent
        ? `an answer${of} was as long as asked, ${String(request['count'])} items`
        : `a question${of} is taken to hold about ${Math.round(into.estimate?.items ?? 0)} items`;
      onNotice({ level: 'info', sync, message: `${held}; ${quoted(requests, points)} follow as things look` });
    },
    end: () => {
      const { questions, requests, points } = others;
      if (questions === 0) return;
      const message = `${questions} more questions were asked in parts, quoted at ${quoted(requests, points)}`;
      onNotice({ level: 'info', sync, message });
    },
  };
}

const quoted = (requests: number, points: number): string =>
  `about ${requests} ${requests === 1 ? 'request' : 'requests'} for at most ${points} ${points === 1 ? 'point' : 'points'}`;
