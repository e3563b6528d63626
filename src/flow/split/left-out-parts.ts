/** Failed parts of full answers that a narrower window leaves out. */
import type { EarlierFullAnswer } from '../../ledger/failures/full-answers-with-failed-parts.ts';
import { readWatermarks } from '../../ledger/watermarks.ts';
import type { Ops } from '../../warehouse/connect/operations-db.ts';
import { watermarkOf, windowWatermarkNames } from '../prepare/watermarks.ts';
import { isWithin, parseWindowWatermark, slicesToRetry } from '../prepare/window-watermark.ts';
import type { FinishedRun } from '../run/finished-run.ts';

/**
 * Returns a function that removes full answers with a failed part outside of the sync's window. The watermark keeps listing such
 * a part, but runs request it only once the window is wider again, so they do not show that it was read.
 */
export const withoutLeftOutParts =
  (ops: Ops, { definition }: Pick<FinishedRun, 'definition'>, now: Date) =>
  async (answers: readonly EarlierFullAnswer[]): Promise<readonly EarlierFullAnswer[]> => {
    const { days } = definition.endpoint.paging;
    if (!days || !definition.window || answers.length === 0) return answers;
    const watermarks = await readWatermarks(ops, definition.name);
    return answers.filter(({ input, filters }) => {
      const names = windowWatermarkNames(definition, input);
      const watermark = parseWindowWatermark(watermarkOf(watermarks, names), definition, now);
      if (!watermark) return true;
      const { leftOut } = slicesToRetry(definition, input, watermark);
      return !leftOut.some(({ task }) => isWithin(days, task.request, filters));
    });
  };
