import Configuration
import Doctor
import HealthModel
import Logging
import Monitoring
import Protocol
import StageKit
import Terminal

/// Every command, in the order in which `--help` shows them.
enum Commands {
    private static var groups: [(title: String, commands: [any Command.Type])] {
        [
            (
                "Run a stack",
                [
                    UpCommand.self, DemoCommand.self, OpenCommand.self, StopCommand.self, StartCommand.self,
                    ServiceCommand.self,
                    RunCommand.self, SwapCommand.self,
                ]
            ),
            (
                "See what it does",
                [
                    StatusCommand.self, DestinationsCommand.self, TopCommand.self, HistoryCommand.self,
                    AlertsCommand.self, TapCommand.self,
                    GraphCommand.self,
                    LogsCommand.self,
                ]
            ),
            (
                "Watch over it",
                [
                    ValidateCommand.self, ConfigCommand.self, DoctorCommand.self, VerifyCommand.self, ReadyCommand.self,
                    MonitorCommand.self,
                    CompletionsCommand.self,
                ]
            ),
            (
                "Look at the data",
                [
                    DaysCommand.self, NightsCommand.self, WorkoutsCommand.self, PlacesCommand.self,
                    SamplesCommand.self, QueryCommand.self,
                    ExplainCommand.self, CheckCommand.self, DocumentsCommand.self, MCPCommand.self,
                ]
            ),
            (
                "Import data, and set how it arrives",
                [
                    ImportCommand.self, EventsCommand.self, SyncCommand.self, ZoneCommand.self, SourcesCommand.self,
                    TypesCommand.self,
                    DeviceCommand.self,
                    TasksCommand.self,
                ]
            ),
            (
                "Repair what went wrong",
                [
                    ImportsCommand.self, ReplayCommand.self, QuarantineCommand.self, ConflictsCommand.self,
                    DoublesCommand.self, DeadLettersCommand.self,
                    ResetCommand.self,
                    BackupCommand.self, RestoreCommand.self,
                ]
            ),
            ("Let phones and programs in", [PairCommand.self, TokenCommand.self]),
            ("Keep strangers off the bus", [KeysCommand.self]),
            ("Write a plugin, or a backend", [PluginsCommand.self, BackendCommand.self]),
            ("Try it out", [GenerateCommand.self, SimulateCommand.self]),
        ]
    }

    static let set = CommandSet(
        program: "healthbus", version: "\(ProgramRelease.current) (protocol \(ProtocolVersion.current))",
        summary:
            "Takes your HealthKit data, keeps every sample once, computes faithful daily figures and delivers both to your backend.",
        groups: groups.map { .init($0.title, $0.commands.map { $0.help }) })

    /// Carries out a command line.
    /// - Throws: `Failure` (usage) for a command line that can't be understood; `Quiet` if the command throws it; any
    ///   other error of the command as a `Failure`, whose suggested commands name the stack.
    static func run(_ words: [String]) throws {
        let terminal = Terminal(.output)
        switch try set.select(words, width: terminal.isTerminal ? terminal.width : nil) {
        case .text(let text): StandardStream.output.write(text)
        case .command(let word, let arguments):
            for command in groups.flatMap({ $0.commands }) where command.help.word == word {
                if !command.startsAfresh, let state = arguments.stateFolder {
                    RememberedVariables.take(from: StackLayer(state))
                }
                if !command.looksAtTheDisk, let state = arguments.stateFolder,
                    let notice = DiskSpace.notice(about: state.path, free: DiskSpace.free(at: state.path))
                {
                    StandardStream.error.write(notice.report(program: set.program))
                }
                do { try command.run(arguments) } catch let quiet as Quiet { throw quiet } catch {
                    throw arguments.advice.addressed(Failure(people: error))
                }
            }
        }
    }
}

extension Failure {
    /// Any error, in human-readable form. An unknown zone is a usage error; for a damaged file, the hint says what to
    /// do.
    init(people error: any Error) {
        self =
            error is ZoneError
            ? Failure("\(error)", code: .usage) : DamagedState.failure(of: error) ?? Failure(of: error)
    }
}
