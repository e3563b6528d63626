/** Compares an answer with the previous one to its request: equal rows do not show that it lacks some, or has others. */

/**
 * SQL on the columns of `answers` for what an answer contains; null if that is unknown because a forgotten entity was
 * removed. All answers without items are the same, also those of status 412, whose texts may differ.
 */
const CONTENTS = `case when received = 0 then '' when redacted_at is null then sha256 end`;

/** SQL for the readable loaded answers to a request over all syncs, in the order of their receipt. */
const SUCCESSION = `(partition by request_key, loaded_at is null or unreadable order by received_at, id)`;

/**
 * SQL on the columns of `answers`: whether a readable loaded answer differs from the previous one; null for the first, and
 * if that is unknown. Bytes are compared, so the same items in another order differ.
 */
export const DIFFERS_FROM_PREVIOUS = `${CONTENTS} <> lag(${CONTENTS}) over ${SUCCESSION}`;

/** SQL on the columns of `answers`: whether it is the first readable loaded answer to its request. */
export const IS_FIRST = `row_number() over ${SUCCESSION} = 1`;
