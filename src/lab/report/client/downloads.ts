import * as dom from './dom.ts';

/** The part of Plotly that saves a figure. */
declare const Plotly: { downloadImage(figure: object, options: object): Promise<unknown> };

/** What Plotly keeps of a figure in its element. */
interface Drawn extends HTMLElement {
  readonly data: readonly object[];
  readonly layout: object;
}

const IMAGE_FORMATS = ['SVG', 'PNG'] as const;

/** Buttons below a figure that save it as a file. */
export function addDownloads(node: HTMLElement): void {
  const buttons = IMAGE_FORMATS.map((format) => {
    const label = `save ${node.id.replaceAll('-', ' ')} as ${format}`;
    const button = dom.createNode('button', { type: 'button', 'aria-label': label }, format);
    button.addEventListener('click', () => void downloadFigure(node as Drawn, format));
    return button;
  });
  node.after(dom.createNode('p', { class: 'downloads' }, 'save as ', ...buttons));
}

/** Saves a figure as it is on the screen, on the background of the page. */
function downloadFigure(node: Drawn, format: (typeof IMAGE_FORMATS)[number]): Promise<unknown> {
  const layout = { ...node.layout, paper_bgcolor: dom.readStyleValue('--paper') };
  const { width, height } = node.getBoundingClientRect();
  const filename = `${document.title} ${node.id}`.replace(/[^\w.-]+/g, '-');
  return Plotly.downloadImage(
    { data: node.data, layout },
    { format: format.toLowerCase(), width, height, filename, scale: format === 'PNG' ? 2 : 1 },
  );
}
