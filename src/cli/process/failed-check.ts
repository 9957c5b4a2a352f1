/** A command that worked and reported a failed check. Exit code 1. */
export class FailedCheck extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'FailedCheck';
  }
}
