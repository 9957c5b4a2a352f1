import { z } from 'zod';

/** The licences of the questions: MuSiQue's, and HotpotQA's. */
export const MULTIHOP_LICENCE = 'MuSiQue CC BY 4.0, HotpotQA CC BY-SA 4.0; samples of HippoRAG MIT';

export const multihop = {
  options: z.strictObject({
    name: z.literal('multihop'),
    /** The folder with both files. */
    path: z.string().min(1),
    /** The file of questions, in the format of MuSiQue or of HotpotQA. */
    questions: z.string().min(1),
    /** The file of all passages that are searched. */
    passages: z.string().min(1),
  }),
  description: 'MuSiQue and HotpotQA: a question must find the passages that its answer takes together',
  licence: MULTIHOP_LICENCE,
  source:
    'https://github.com/OSU-NLP-Group/HippoRAG, branch legacy, folder data: a file of questions and one of passages',
};
