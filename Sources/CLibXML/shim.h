/* Link flags only; see module.modulemap. */
