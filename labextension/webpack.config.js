// Module ids by name: what is built does not depend on where the checkout lies.
module.exports = { optimization: { moduleIds: 'named' } };
