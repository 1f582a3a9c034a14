/** Nothing is needed; this keeps Jest from looking further up for a configuration. */
module.exports = {};
