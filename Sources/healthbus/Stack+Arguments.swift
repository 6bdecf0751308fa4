import Configuration
import Doctor
import Foundation
import Inspection
import Logging
import Terminal

extension Stack {
    /// A stack to start, with the configuration named on the command line or in the environment, or else with the
    /// default one.
    /// - Parameter state: its folder, if it isn't the one named on the command line.
    /// - Throws: `Failure` that names everything that `validate` would call an error, if the stack can't be started.
    init(starting arguments: Arguments, state: String? = nil) throws {
        let (state, file) = (state ?? arguments.value("--state"), arguments.configurationFile)
        do {
            try self.init(state: state, configurationFile: file)
            try requireSoundStructure()
        } catch { throw Validation(state: state, configurationFile: file).refusal ?? error }
        advice = arguments.advice
    }

    /// The stack that a command works on, with the named configuration, or else with the one that it was last started
    /// with.
    /// - Parameter choices: plugins by instance, which take precedence over the choices in the state folder.
    init(_ arguments: Arguments, choices: [String: StackConfiguration.Choice] = [:]) throws {
        let state = arguments.value("--state")
        let file = try arguments.configurationFile ?? Self.lastConfiguration(state)
        try self.init(state: state, configurationFile: file, choices: choices)
        advice = arguments.advice
    }

    /// The stack for a command that only looks at it or stops it. It says what is wrong with the configuration and goes
    /// on, unless that is the one that `--config` names.
    init(watching arguments: Arguments) throws {
        self = try Stack(overlooking: arguments)
        if let notice = mistakeNotice {
            StandardStream.error.write(advice.addressed(notice).report(program: Commands.set.program))
        }
    }

    /// The same, for a command that reports the mistakes itself.
    init(overlooking arguments: Arguments) throws {
        guard arguments.value("--config") == nil else {
            try self.init(arguments)
            return
        }
        let state = arguments.value("--state")
        let file = try arguments.configurationFile ?? Self.rememberedConfiguration(state)
        try self.init(state: state, watching: file)
        advice = arguments.advice
    }

    /// The stack for a command that shows the content of the state folder. If there is no stack, it would be wrong to
    /// report "nothing".
    /// - Throws: `Failure` when there is no state folder, or it holds no stack.
    init(reading arguments: Arguments) throws {
        try self.init(watching: arguments)
        try requireState()
    }

    /// What `stack.json` says, whether or not that file is there.
    private static func rememberedConfiguration(_ state: String?) throws -> String? {
        try StackLayer(state.map { StateFolder(path: $0) } ?? .standard()).configurationFile()
    }

    /// The configuration that the stack was last started with; nil if that was only the default one.
    static func lastConfiguration(_ state: String?) throws -> String? {
        guard let file = try rememberedConfiguration(state) else { return nil }
        let folder = state.map { StateFolder(path: $0) } ?? .standard()
        guard FileManager.default.fileExists(atPath: file) else {
            throw Failure(
                "the stack in \(folder.path) was last started with \(file), which isn't there",
                hint: "put it back, or name another with --config", code: .usage)
        }
        return file
    }
}

extension Arguments {
    /// The configuration to apply on top of the default one; nil for none.
    var configurationFile: String? { StackConfiguration.file(given: value("--config")) }

    /// The state folder that the command works on; nil for a command without `--state`.
    var stateFolder: StateFolder? {
        guard declares("--state") else { return nil }
        return value("--state").map { StateFolder(path: $0) } ?? .standard()
    }
}

extension Arguments {
    /// The options that suggested commands need in order to refer to the stack of this command line.
    var advice: Advice {
        // Without --state, the demo uses its own folder, which no other command uses by default.
        let state = command.word == DemoCommand.help.word ? DemoCommand.folder(self) : given("--state")
        let file = given("--config")
        guard declares("--state") else { return Advice() }
        // Only commands that start a stack ignore the configuration that it last had. If the state folder can't be
        // read, the command itself reports that.
        let folder = state.map { StateFolder(path: $0) } ?? .standard()
        let last = try? StackLayer(folder).configurationFile()
        let isInEnvironment = StackConfiguration.file(given: nil) != nil
        return Advice(
            state: state, configuration: file, started: file ?? (isInEnvironment ? nil : last ?? nil),
            user: given("--user"))
    }
}
