import { describeAssistantExport } from './assistant-export.harness.ts';
import { encodeChatGptExport } from './chatgpt.fixture.ts';
import { loadChatGptExport } from './chatgpt-export.ts';

describeAssistantExport({ name: 'chatgpt-export', load: loadChatGptExport, encode: encodeChatGptExport });
