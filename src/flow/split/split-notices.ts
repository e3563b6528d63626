/**
 * Reports questions that one answer cannot hold, with the expected number of further requests, before these are sent.
 */
import type { Notice } from '../../ledger/summary.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Follow } from '../../service/paging.ts';

/** A question that is requested in parts. */
export interface SplitEvent {
  readonly depth: number;
  readonly input: RequestBody;
  readonly request: RequestBody;
  readonly parts: Follow;
  /** False if the question was predicted to be full. */
  readonly wasSent: boolean;
}

export interface SplitNotices {
  readonly onSplit: (cut: SplitEvent) => void;
  /** Reports the total of all questions that were not reported singly. */
  readonly end: () => void;
}

/** Most questions that are reported singly; a sync may have thousands. */
const MOST_REPORTED = 3;

/** Returns the notices on splits in one sync's run. `maxPointsOf` returns the most points that a request can cost. */
export function splitNotices(
  sync: string,
  maxPointsOf: (request: RequestBody) => number,
  onNotice: (notice: Notice) => void,
): SplitNotices {
  const others = { questions: 0, requests: 0, points: 0 };
  let reported = 0;
  return {
    onSplit: ({ depth, input, request, parts, wasSent }) => {
      // The first estimate includes the parts' own parts.
      if (depth > 0) return;
      const requests = parts.estimate?.requests ?? parts.requests.length;
      const points = requests * Math.max(...parts.requests.map(maxPointsOf));
      if (reported >= MOST_REPORTED) {
        others.questions += 1;
        others.requests += requests;
        others.points += points;
        return;
      }
      reported += 1;
      const forInput = Object.keys(input).length === 0 ? '' : ` ${JSON.stringify(input)}`;
      const held = wasSent
        ? `an answer${forInput} was full with ${String(request['count'])} items`
        : `a question${forInput} is expected to have about ${Math.round(parts.estimate?.items ?? 0)} items`;
      onNotice({ level: 'info', sync, message: `${held}; its parts need ${quoted(requests, points)}` });
    },
    end: () => {
      const { questions, requests, points } = others;
      if (questions === 0) return;
      const message = `${questions} more questions were split, quoted at ${quoted(requests, points)}`;
      onNotice({ level: 'info', sync, message });
    },
  };
}

const quoted = (requests: number, points: number): string =>
  `about ${requests} ${requests === 1 ? 'request' : 'requests'} for at most ${points} ${points === 1 ? 'point' : 'points'}`;
