/** Addresses of pictures, signed anew for each answer, as picture stores do. */
import { digestOf } from './draw.ts';

/** Returns the address of the picture at a path, for the current answer. */
export type Sign = (path: string) => string;

/** The signer of one answer. The addresses of a picture are equal within an answer and differ between answers. */
export const signing =
  (seed: number, answer: number): Sign =>
  (path) =>
    `https://images.example/${path}?e=${1_900_000_000 + answer}&sig=${digestOf(`${seed}/${answer}/${path}`).toString(16).padStart(8, '0')}`;
