/** Compares an answer with the previous one to its request: equal rows do not show that it lacks some, or has others. */

/**
 * SQL on the columns of `answers` for what an answer contains; null if that is unknown because a forgotten entity was
 * removed. All answers without items are the same, also those of status 412, whose texts may differ.
 */
const CONTENTS = `case when received = 0 then '' when redacted_at is null then sha256 end`;

/**
 * SQL on the columns of `answers`: whether an answer differs from the previous one in this window; null for the first, and
 * if that is unknown. Bytes are compared, so the same items in another order differ.
 */
export const differsFromPrevious = (window: string): string => `${CONTENTS} <> lag(${CONTENTS}) over ${window}`;
