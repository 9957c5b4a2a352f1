import { type BackendChoice, type BackendName, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { OWN_GOLDEN, readGolden, type TopicReport, verify } from '../../lab/verification/verify.ts';
import { alignColumns } from '../process/columns.ts';
import { FailedCheck } from '../process/supervision.ts';

const hasFailed = ({ failures }: TopicReport) => failures.length > 0;

function formatReportRow(report: TopicReport): string[] {
  const figures = [report.worstAbsolute, report.worstRelative].map((value) =>
    value === 0 ? '0' : value.toExponential(1),
  );
  return [report.topic, String(report.cases), ...figures, report.tolerance, hasFailed(report) ? 'FAIL' : 'pass'];
}

/** The table of `ragpp verify`, its failures and a line of how many topics fail. */
export function formatVerifyTable(backend: BackendName, reports: readonly TopicReport[]): string {
  const header = ['topic', 'cases', 'worst absolute', 'worst relative', 'tolerance', 'result'];
  const failed = reports.filter(hasFailed);
  return [
    `backend ${backend}`,
    alignColumns([header, ...reports.map(formatReportRow)]),
    ...reports.flatMap(({ topic, failures }) => failures.map((failure) => `${topic}: ${failure}`)),
    failed.length === 0 ? 'all topics pass' : `${failed.length} of ${reports.length} topics fail`,
  ].join('\n');
}

export async function run(options: { backend: BackendChoice; golden?: string }): Promise<void> {
  const files = readGolden(options.golden ?? OWN_GOLDEN);
  const backend = await useBackend(options.backend);
  const reports = await verify(files, createTerminalProgress());
  printOut(`${formatVerifyTable(backend, reports)}\n`);
  const failed = reports.filter(hasFailed).length;
  if (failed > 0) throw new FailedCheck(`${failed} topics`);
}
