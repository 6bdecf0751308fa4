// A page's lists of names (`types`, `units`, `origins`), reduced to those that its rows use.

extension SamplePage {
    /// A page for somebody who may see only these rows, in this order, without any name that only other rows use.
    ///
    /// If these are all of the page's rows, the page is returned unchanged: nothing is copied or renumbered.
    /// - Parameter rows: their indices in ascending order, without repeats.
    package func keeping(_ rows: [Int]) -> SamplePage {
        rows.count == count ? self : select(rows).withoutUnusedNames()
    }

    /// The same rows, without names that none of them uses. `select` keeps names used only by rows that it leaves out,
    /// which may belong to other people.
    package consuming func withoutUnusedNames() -> SamplePage {
        // The page is consumed so that the columns of a page made by `select` can be renumbered in place.
        var page = self
        page.types = page.type.renumber(count: page.types.count).map { page.types[$0] }
        page.units = page.unit.renumber(count: page.units.count).map { page.units[$0] }
        page.origins = page.origin.renumber(count: page.origins.count).map { page.origins[$0] }
        return page
    }
}

extension Dictionary where Value == Int32 {
    /// The place in a list of the name that a key stands for; the first time, the name is added. Inlined: a generic
    /// function of another module would be many times slower.
    @inlinable package mutating func place<Name>(
        of key: Key, in names: inout [Name], adding name: @autoclosure () throws -> Name
    ) rethrows -> Int32 {
        if let known = self[key] { return known }
        let new = Int32(names.count)
        names.append(try name())
        self[key] = new
        return new
    }
}

extension [Int32] {
    /// Renumbers the entries of a dictionary in the order in which a column refers to them.
    /// - Parameter count: how many entries the dictionary has; every index of the column is below it.
    /// - Returns: the old indices of the entries that are used, in the new order.
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
