/** Holds the version of this half; a test compares it with the server's. */

export const VERSION = '0.1.0';
