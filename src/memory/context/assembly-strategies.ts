/** What shares the budget: `rag`: documents and memories; `hybrid`: memories of every type; `episodic` and `semantic`: memories of one type. */
export const ASSEMBLY_STRATEGIES = Object.freeze(['rag', 'hybrid', 'episodic', 'semantic'] as const);
