/** Whether the server runs for work on the app (`--dev`): then nothing of it is kept on this device, and nothing rings. */
export const isDev: boolean = document.querySelector('meta[name="afield-dev"]') !== null
