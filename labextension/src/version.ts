/** The version of this half of the extension; a test keeps it equal to the server's half. */

export const VERSION = '0.1.0';
