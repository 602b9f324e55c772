/** Version of the product, printed as `info.version`. A test holds it against the package's own description. */
export const productVersion = '0.1.0';
