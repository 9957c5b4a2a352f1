/** Two samples in the format of LoCoMo, with everything that its format is untidy about. */
export const buildLocomoSamples = () => [
  {
    sample_id: 'conv-7',
    conversation: {
      speaker_a: 'Ana',
      speaker_b: 'Ben',
      session_1_date_time: '11:58 pm on 28 February, 2023',
      session_1: [
        { speaker: 'Ana', dia_id: 'D1:1', text: 'I planted beans. ' },
        {
          speaker: 'Ben',
          dia_id: 'D1:2',
          text: 'Look!',
          blip_caption: 'a photo of a red shed',
          query: 'shed',
          img_url: ['x'],
        },
        { speaker: 'Ana', dia_id: 'D1:3', text: '', blip_caption: 'a bowl of soup' },
        { speaker: 'Ben', dia_id: 'D1:4', text: ' ', blip_caption: null },
        { speaker: 'Ben', dia_id: 'D1:5', text: 'Tasty.' },
      ],
      session_2_date_time: '12:05 am on 1 March, 2023',
      session_2: [{ speaker: 'Ben', dia_id: 'D2:1', text: 'The shed burnt down.' }],
      session_3: [],
      session_3_date_time: '1:00 pm on 2 March, 2023',
      session_9_date_time: '1:00 pm on 3 March, 2023',
    },
    observation: { session_1_observation: { Ana: [['Ana grows beans.', 'D1:1']] } },
    session_summary: { session_1_summary: 'They speak about beans.' },
    qa: [
      { question: 'What did Ana plant?', answer: 'beans', evidence: ['D1:1'], category: 4 },
      { question: 'When did the shed burn?', answer: 2023, evidence: ['D:2:01; D1:2', 'D1:02'], category: 2 },
      { question: 'Would Ben cook?', answer: 'no', evidence: [], category: 3 },
      { question: 'Who ate what?', answer: 'soup', evidence: ['D', 'D1:4', 'D1:17 D1:3'], category: 1 },
      { question: 'Which car did Ana plant?', adversarial_answer: 'a van', evidence: ['D1:1'], category: 5 },
      { question: 'Why?', category: 1 },
    ],
  },
  {
    sample_id: 'conv-5',
    conversation: {
      session_10: [{ speaker: 'Cem', dia_id: 'D10:1', text: 'It is a dog.' }],
      session_10_date_time: '3:07 pm on 5 July, 2022',
      session_2: [{ speaker: 'Dee', dia_id: 'D2:1', text: 'What is in the box?' }],
      session_2_date_time: '3:07 pm on 4 July, 2022',
    },
    qa: [{ question: 'What was in the box?', answer: 'a dog', evidence: ['D10:1'], category: 4 }],
  },
];
