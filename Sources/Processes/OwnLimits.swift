import Glibc

/// What this process may use for the rest of its life, set before it runs what somebody else wrote.
package enum OwnLimits {
    /// - Parameter memory: bytes of address space; memory that it can't get is refused. If it runs out where that can't
    ///   be handled, it ends with a signal, and leaves no core file, which would hold its data.
    /// - Throws: `ProcessError` when the system refuses.
    package static func set(memory: Int) throws(ProcessError) {
        try lower(RLIMIT_AS, to: rlim_t(memory))
        try lower(RLIMIT_CORE, to: 0)
    }

    /// A limit that is already lower stays.
    private static func lower(_ resource: __rlimit_resource, to value: rlim_t) throws(ProcessError) {
        let resource = __rlimit_resource_t(resource.rawValue)
        var limit = rlimit()
        var result = getrlimit(resource, &limit)
        if result == 0 {
            limit = rlimit(rlim_cur: min(limit.rlim_cur, value), rlim_max: min(limit.rlim_max, value))
            result = setrlimit(resource, &limit)
        }
        guard result == 0 else {
            throw ProcessError(.system, "can't limit this process's memory", errorNumber: errno)
        }
    }
}
