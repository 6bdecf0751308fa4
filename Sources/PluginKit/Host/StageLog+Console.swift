import Console

extension StageLog {
    /// The process's log on standard error, as the environment says; of bounded size where the supervisor made that the instance's file.
    public static func standard(_ instance: String, file: String) throws -> StageLog {
        let standard = try Log(plugin: instance)
        let log = LogFile(path: file).map { file in standard.writing { file.write($0) } } ?? standard
        return StageLog { level, event, fields in
            let level: Log.Level =
                switch level {
                case .debug: .debug
                case .info: .info
                case .notice: .notice
                case .error: .error
                }
            // The part of the process before the dot: what happened to the observer, an anchor, an upload.
            let category = event.split(separator: ".").first.map(String.init) ?? event
            log.event(event, category: category, level: level, fields: fields.map { ($0, .text($1)) })
        }
    }
}
