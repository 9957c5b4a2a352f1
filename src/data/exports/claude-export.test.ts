import { describeAssistantExport } from './assistant-export.harness.ts';
import { encodeClaudeExport } from './claude.fixture.ts';
import { loadClaudeExport } from './claude-export.ts';

describeAssistantExport({ name: 'claude-export', load: loadClaudeExport, encode: encodeClaudeExport });
