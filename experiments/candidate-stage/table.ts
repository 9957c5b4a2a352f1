import { formatDecimal } from '../../src/lab/report/tables/format.ts';
import { formatPipeTable } from '../text-table.ts';

/** One setting of the approximate index. */
export interface GraphPoint {
  readonly m: number;
  readonly efConstruction: number;
  readonly efSearch: number;
  readonly recall: number;
  /** A query. */
  readonly milliseconds: number;
  /** Of the graph, for every efSearch. */
  readonly buildSeconds: number;
  /** A turn, of the graph. */
  readonly graphBytes: number;
}

const describeGraphPoint = ({ m, efConstruction }: GraphPoint) => `M ${m}, efConstruction ${efConstruction}`;

/** A row a graph, a column an efSearch. */
export function formatGridTable(points: readonly GraphPoint[]): string {
  const efs = [...new Set(points.map(({ efSearch }) => efSearch))];
  const graphs = [...new Set(points.map(describeGraphPoint))];
  const rows = graphs.map((graph) => {
    const own = points.filter((point) => describeGraphPoint(point) === graph);
    const [{ buildSeconds, graphBytes }] = own as [GraphPoint];
    const cells = own.map(
      ({ recall, milliseconds }) => `${formatDecimal(recall, 3)}, ${formatDecimal(milliseconds, 2)} ms`,
    );
    return [graph, buildSeconds.toFixed(1), graphBytes.toFixed(0), ...cells];
  });
  return formatPipeTable({ head: ['graph', 'build s', 'bytes a turn', ...efs.map((ef) => `efSearch ${ef}`)], rows });
}

/** The Pareto-optimal points: no other is at least as fast and at least as exact; the fastest first. */
export function findFrontier(points: readonly GraphPoint[]): GraphPoint[] {
  const beats = (a: GraphPoint, b: GraphPoint) =>
    a.milliseconds <= b.milliseconds &&
    a.recall >= b.recall &&
    (a.milliseconds < b.milliseconds || a.recall > b.recall);
  return points
    .filter((point) => !points.some((other) => beats(other, point)))
    .sort((a, b) => a.milliseconds - b.milliseconds);
}

export function formatFrontierTable(points: readonly GraphPoint[], k: number): string {
  return formatPipeTable({
    head: ['setting', `recall@${k}`, 'ms'],
    rows: findFrontier(points).map((point) => [
      `${describeGraphPoint(point)}, efSearch ${point.efSearch}`,
      formatDecimal(point.recall, 4),
      formatDecimal(point.milliseconds, 3),
    ]),
  });
}
