/**
 * Reports requests that one answer cannot hold, with the expected number of further requests, before these are sent.
 */
import type { Notice } from '../../ledger/summary.ts';
import type { RequestBody } from '../../service/request-body.ts';
import type { Follow } from '../../service/paging.ts';

/** A request that is sent again in parts. */
export interface SplitEvent {
  readonly depth: number;
  readonly input: RequestBody;
  readonly request: RequestBody;
  readonly parts: Follow;
  /** False if the answer was predicted to be full, and the request was not sent. */
  readonly wasSent: boolean;
}

export interface SplitNotices {
  readonly onSplit: (split: SplitEvent) => void;
  /** Reports the total of all splits that were not reported one by one. */
  readonly end: () => void;
}

/** Most splits that are reported one by one; a sync may have thousands. */
const MOST_REPORTED = 3;

/** Returns the notices on splits in one sync's run. `maxPointsOf` returns the most points that a request can cost. */
export function splitNotices(
  sync: string,
  maxPointsOf: (request: RequestBody) => number,
  onNotice: (notice: Notice) => void,
): SplitNotices {
  const others = { splits: 0, requests: 0, points: 0 };
  let reported = 0;
  return {
    onSplit: ({ depth, input, request, parts, wasSent }) => {
      // The first estimate includes the parts' own parts.
      if (depth > 0) return;
      const requests = parts.estimate?.requests ?? parts.requests.length;
      const points = requests * Math.max(...parts.requests.map(maxPointsOf));
      if (reported >= MOST_REPORTED) {
        others.splits += 1;
        others.requests += requests;
        others.points += points;
        return;
      }
      reported += 1;
      const of = Object.keys(input).length === 0 ? '' : ` to ${JSON.stringify(input)}`;
      const held = wasSent
        ? `the answer${of} was full with ${String(request['count'])} items`
        : `the answer${of} is expected to have about ${Math.round(parts.estimate?.items ?? 0)} items`;
      onNotice({ level: 'info', sync, message: `${held}; its parts need ${quoted(requests, points)}` });
    },
    end: () => {
      const { splits, requests, points } = others;
      if (splits === 0) return;
      const message = `${splits} more requests were split; their parts need ${quoted(requests, points)}`;
      onNotice({ level: 'info', sync, message });
    },
  };
}

const quoted = (requests: number, points: number): string =>
  `about ${requests} ${requests === 1 ? 'request' : 'requests'} for at most ${points} ${points === 1 ? 'point' : 'points'}`;
