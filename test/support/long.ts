/** The number of random cases: enough for each change, and with `SLUICE_LONG=1` enough for a release. */

export const IS_LONG = process.env['SLUICE_LONG'] === '1';

/** The second count in the long form, else the first. */
export const countOf = (short: number, long: number): number => (IS_LONG ? long : short);
