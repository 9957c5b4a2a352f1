/** What was asked was done, and the answer is no: the command has already said why. Exit code 1. */
export class FailedCheck extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'FailedCheck';
  }
}
