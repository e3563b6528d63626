/** Commits answers in groups: the next group fills while the groups before it are committed. */
import { type Group, type LoadLimits, openGroup, type SizedBatch } from '../../load/group.ts';

export interface PipelineOptions<T, R> {
  readonly limits: LoadLimits;
  /** The most groups that are committed and not reported at a time. */
  readonly concurrency: number;
  /** True if two groups may be committed at the same time, whichever ends first. */
  readonly isIndependent: (one: readonly T[], other: readonly T[]) => boolean;
  readonly commit: (group: readonly T[]) => Promise<R>;
  /** Called with the results, in the order of the groups, up to the first error. */
  readonly report: (result: R) => void;
  /** Called between the last commit and the start of a flush, which it may delay. */
  readonly pause?: (() => Promise<void>) | undefined;
}

interface RunningCommit<T> {
  readonly group: readonly T[];
  /** Resolves when the commit and those before it have ended; never rejects. */
  readonly ended: Promise<void>;
}

/** Groups start in the order of their answers. After an error no group starts. */
export class LoadPipeline<T extends SizedBatch, R> {
  readonly #options: PipelineOptions<T, R>;
  /** The group that fills. */
  #group: Group<T>;
  #flushing: Group<T> | undefined;
  readonly #running = new Set<RunningCommit<T>>();
  /** Resolves when all started commits are reported; rejects with the first error in order. */
  #reported: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(options: PipelineOptions<T, R>) {
    this.#options = options;
    this.#group = openGroup(options.limits);
  }

  /**
   * Adds the next answer. Waits while it does not fit into the group and the group cannot start. So at most one group and
   * one further answer are buffered. Throws the error of a commit once all running commits have ended.
   */
  async add(answer: T): Promise<void> {
    while (this.#hasFailed || !this.#group.admit(answer)) await this.#commitGroup();
  }

  /**
   * Commits the group without waiting for more answers, once the running commits have ended. Answers may still join until
   * then, so a group becomes as large as in a sequential load.
   */
  flush(): void {
    const group = this.#group;
    if (group.answers.length === 0 || this.#flushing === group) return;
    this.#flushing = group;
    const start = (): void => {
      if (this.#group === group && !this.#hasFailed) this.#start();
    };
    void this.#idle().then(this.#options.pause).then(start, start);
  }

  /** Commits the rest, and waits until everything is reported. Throws the first error once all commits have ended. */
  async end(): Promise<void> {
    if (this.#group.answers.length > 0) await this.#commitGroup();
    await this.#settle();
  }

  /** Starts the commit of the group as soon as it may run beside the others, unless a flush starts it first. */
  async #commitGroup(): Promise<void> {
    const group = this.#group;
    while (this.#group === group && !this.#hasFailed && !this.#canStart())
      await Promise.race([...this.#running].map(({ ended }) => ended));
    if (this.#hasFailed) await this.#settle();
    else if (this.#group === group) this.#start();
  }

  #canStart(): boolean {
    const { concurrency, isIndependent } = this.#options;
    const running = [...this.#running];
    return running.length < concurrency && running.every(({ group }) => isIndependent(group, this.#group.answers));
  }

  #start(): void {
    const group = this.#group.answers;
    this.#group = openGroup(this.#options.limits);
    const done = this.#options.commit(group);
    // `add` and `end` throw the error.
    done.catch(this.#fail);
    this.#reported = this.#reported.then(() => done).then(this.#options.report);
    this.#reported.catch(this.#fail);
    const ended = Promise.allSettled([done, this.#reported]).then(() => void this.#running.delete(commit));
    const commit: RunningCommit<T> = { group, ended };
    this.#running.add(commit);
  }

  readonly #fail = (): void => {
    this.#hasFailed = true;
  };

  async #settle(): Promise<void> {
    await this.#idle();
    await this.#reported;
  }

  async #idle(): Promise<void> {
    await Promise.all([...this.#running].map(({ ended }) => ended));
  }
}
