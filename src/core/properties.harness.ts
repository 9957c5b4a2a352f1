import fc from 'fast-check';

// Every run draws the same cases, so that what fails once fails again.
fc.configureGlobal({ seed: 20260101 });
