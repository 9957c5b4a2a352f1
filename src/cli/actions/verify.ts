import { type BackendChoice, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { OWN_GOLDEN, readGolden, type TopicReport, verify } from '../../lab/verification/verify.ts';
import { alignColumns } from '../process/columns.ts';
import { FailedCheck } from '../process/supervision.ts';

function formatReportRow(report: TopicReport): string[] {
  const figures = [report.worstAbsolute, report.worstRelative].map((value) =>
    value === 0 ? '0' : value.toExponential(1),
  );
  return [
    report.topic,
    String(report.cases),
    ...figures,
    report.tolerance,
    report.failures.length === 0 ? 'pass' : 'FAIL',
  ];
}

export async function run(options: { backend: BackendChoice; golden?: string }): Promise<void> {
  const files = readGolden(options.golden ?? OWN_GOLDEN);
  const backend = await useBackend(options.backend);
  const reports = await verify(files, createTerminalProgress());
  const header = ['topic', 'cases', 'worst absolute', 'worst relative', 'tolerance', 'result'];
  printOut(`backend ${backend}\n${alignColumns([header, ...reports.map(formatReportRow)])}\n`);
  for (const { topic, failures } of reports) for (const failure of failures) printOut(`${topic}: ${failure}\n`);
  const failed = reports.filter((report) => report.failures.length > 0).length;
  printOut(failed === 0 ? 'all topics pass\n' : `${failed} of ${reports.length} topics fail\n`);
  if (failed > 0) throw new FailedCheck(`${failed} topics`);
}
