/** ECMAScript's JSON with source text access, which TypeScript's library does not declare yet. */
interface RawJson {
  readonly rawJSON: string;
}
interface JSON {
  isRawJSON(value: unknown): value is RawJson;
  rawJSON(text: string): RawJson;
}
