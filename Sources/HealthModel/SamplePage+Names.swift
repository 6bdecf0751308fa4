// A page's names (`types`, `units`, `origins`), reduced to those that its rows use.

extension SamplePage {
    /// A page for somebody who may see only these rows: in their order, and with no name that only other rows use.
    ///
    /// If these are all rows, it is this page as it lies: nothing is copied or numbered again.
    /// - Parameter rows: rising, each once.
    package func keeping(_ rows: [Int]) -> SamplePage {
        rows.count == count ? self : select(rows).withoutUnusedNames()
    }

    /// The same rows, without the names that none of them uses: `select` keeps those of the rows it leaves out, which
    /// may be other people's.
    package consuming func withoutUnusedNames() -> SamplePage {
        // Consumed, so that the columns of a page made by `select` are numbered in place.
        var page = self
        page.types = page.type.renumber(count: page.types.count).map { page.types[$0] }
        page.units = page.unit.renumber(count: page.units.count).map { page.units[$0] }
        page.origins = page.origin.renumber(count: page.origins.count).map { page.origins[$0] }
        return page
    }
}

extension [Int32] {
    /// Numbers the entries of a dictionary that a column points to as they occur in it.
    /// - Parameter count: how many entries the dictionary has; every index of the column is below it.
    /// - Returns: the entries that are used, by their old indices, in their new order.
    package mutating func renumber(count: Int) -> [Int] {
        var new = [Int32](repeating: -1, count: count)
        var used: [Int] = []
        for row in indices {
            let old = Int(self[row])
            if new[old] < 0 {
                new[old] = Int32(used.count)
                used.append(old)
            }
            self[row] = new[old]
        }
        return used
    }
}
