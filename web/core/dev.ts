/** Whether the server runs with `--dev`: then the device caches nothing of the app and shows no notifications. */
export const isDev: boolean = document.querySelector('meta[name="afield-dev"]') !== null
