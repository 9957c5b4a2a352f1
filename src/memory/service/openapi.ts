import { z } from 'zod';
import { projectVersion } from '../../core/code/package-root.ts';
import { ROUTES, type Route } from './routes.ts';

/** A value without a form in JSON Schema, such as a time that may be a number or a text, is any value. */
const describeSchema = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });

const content = (schema: object) => ({ content: { 'application/json': { schema } } });

const REFUSAL = {
  type: 'object',
  required: ['code', 'reason', 'message'],
  properties: { code: { type: 'string' }, reason: { type: 'string' }, message: { type: 'string' } },
};

function describeRoute({ path, summary, body, answer }: Route): object {
  const takesId = path.includes(':id');
  return {
    summary,
    ...(takesId && {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
    }),
    ...(body !== null && { requestBody: { required: true, ...content(describeSchema(body)) } }),
    responses: {
      200: { description: 'done', ...content(describeSchema(answer)) },
      default: { description: 'refused', ...content(REFUSAL) },
    },
  };
}

/** The paths of a memory in the form of OpenAPI 3.1, made of the schemas that check them. */
export function buildOpenApi(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of ROUTES) {
    const path = route.path.replace(':id', '{id}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) };
  }
  return { openapi: '3.1.0', info: { title: 'A memory of rag-plusplus', version: projectVersion() }, paths };
}
